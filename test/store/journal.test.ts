// Events: numbered without gaps over any number of writers, whole whatever a dead one left, and never missed by a reader.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { openJournal, readEvents } from '../../companion/src/store/journal.ts';
import type { JobPaths } from '../../companion/src/store/layout.ts';
import { jobId, makeJob, makePlace } from './job-record.ts';

const job = { id: jobId, owner: 'me' };
const seqs = (events: { seq: number }[]) => events.map(({ seq }) => seq);
const upTo = (from: number, to: number) => Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);

/** Lines as a worker writes them, numbered from 1. */
function fill(paths: JobPaths, count: number, bytes: number): void {
  const line = (seq: number) =>
    JSON.stringify({ seq, at: 'x', job: jobId, owner: null, type: 'tool', pad: '\u00e9'.repeat(bytes / 2) });
  writeFileSync(
    paths.events,
    upTo(1, count)
      .map((seq) => `${line(seq)}\n`)
      .join(''),
  );
}

test('events are numbered from 1, one JSON line each, with who and when', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  const journal = openJournal(paths, job);
  assert.equal(journal.seq, 0);
  const first = journal.append('claimed', { worker: 5 });
  assert.equal(journal.append('started').seq, 2);
  assert.equal(journal.seq, 2);
  assert.deepEqual(first, { seq: 1, at: first.at, job: jobId, owner: 'me', type: 'claimed', worker: 5 });
  assert.equal(new Date(first.at).toISOString(), first.at);
  const lines = readFileSync(paths.events, 'utf8').split('\n');
  assert.equal(lines.length, 3);
  assert.deepEqual(JSON.parse(lines[0]!), first);
  assert.deepEqual(readEvents(paths, 0, 10).events[0], first);
  assert.equal(statSync(paths.events).mode & 0o777, 0o600);
});

test('a new writer goes on with the next number', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  for (let writer = 0; writer < 3; writer += 1) {
    const journal = openJournal(paths, job);
    journal.append('claimed');
    journal.append('started');
  }
  assert.deepEqual(seqs(readEvents(paths, 0, 100).events), upTo(1, 6));
});

for (const torn of ['{"seq":3,"at":"2026', '{"seq":3,"type":"tool"}', '{', '\u0000\u0000', 'x'.repeat(10_000)]) {
  test(`a last line that a dead writer left as ${JSON.stringify(torn.slice(0, 30))} is closed, and nothing is glued to it`, (t) => {
    const paths = makeJob(makePlace(t).root, {});
    const before = openJournal(paths, job);
    before.append('claimed');
    before.append('started');
    appendFileSync(paths.events, torn);
    const isWhole = torn.endsWith('}');
    const journal = openJournal(paths, job);
    assert.equal(journal.seq, isWhole ? 3 : 2);
    assert.equal(journal.append('stopping').seq, isWhole ? 4 : 3);
    assert.deepEqual(seqs(readEvents(paths, 0, 100).events), isWhole ? [1, 2, 3, 4] : [1, 2, 3]);
    assert.ok(readFileSync(paths.events, 'utf8').includes(`\n${torn}\n{`));
  });
}

test('an event that is too large is kept as its head, and the next one is whole', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  const journal = openJournal(paths, job);
  journal.append('tool', { output: 'x'.repeat(65_300) });
  journal.append('tool', { output: '\u6f22'.repeat(30_000) });
  journal.append('stopping', { reason: 'canceled' });
  const { events } = readEvents(paths, 0, 10);
  assert.deepEqual(seqs(events), [1, 2, 3]);
  assert.equal(String(events[0]?.output).length, 65_300);
  const { at } = events[1]!;
  assert.deepEqual(events[1], { seq: 2, at, job: jobId, owner: 'me', type: 'tool', truncated: true });
  assert.equal(events[2]?.reason, 'canceled');
  for (const line of readFileSync(paths.events, 'utf8').split('\n')) assert.ok(Buffer.byteLength(line) <= 65_536);
});

test('the number goes on also behind lines of the largest size', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  const journal = openJournal(paths, job);
  for (let n = 0; n < 3; n += 1) journal.append('tool', { output: 'x'.repeat(65_400) });
  assert.equal(openJournal(paths, job).seq, 3);
});

test('an owner of any length keeps an event line within its bound', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  openJournal(paths, { id: jobId, owner: 'o'.repeat(100_000) }).append('claimed');
  for (const line of readFileSync(paths.events, 'utf8').split('\n')) assert.ok(Buffer.byteLength(line) <= 65_536);
});

test('nothing is missed after any number, however far back it lies', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  // About 1.8 MiB: several windows of 256 KiB.
  const count = 900;
  fill(paths, count, 2000);
  for (const after of [0, 1, 2, 99, 100, 350, 500, 768, 769, 770, 771, 772, 773, 774, 898, 899, 900, 901, 5000]) {
    const { events, more, missed } = readEvents(paths, after, 1_000_000);
    assert.deepEqual(seqs(events), upTo(after + 1, count), `after ${after}`);
    assert.deepEqual([more, missed], [false, false]);
  }
});

test('a reader that goes on from the last number it got sees each event once', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  fill(paths, 333, 3000);
  const seen: number[] = [];
  for (let after = 0, rounds = 0; rounds < 20; rounds += 1) {
    const { events, more, missed } = readEvents(paths, after, 50);
    assert.ok(events.length <= 50);
    assert.equal(missed, false);
    seen.push(...seqs(events));
    assert.equal(more, seen.length < 333);
    after = seen.at(-1) ?? after;
    if (!more) break;
  }
  assert.deepEqual(seen, upTo(1, 333));
});

test('a journal beyond the largest window says that something was missed', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  fill(paths, 300, 60_000);
  const { events, missed } = readEvents(paths, 0, 1_000_000);
  assert.equal(missed, true);
  assert.deepEqual(seqs(events), upTo(events[0]!.seq, 300));
  assert.equal(readEvents(paths, 200, 1_000_000).missed, false);
});

test('lines that are no event are passed over', (t) => {
  const lines = ['', 'null', '5', '"x"', '[]', '{}', '{"seq":"1"}', '{"seq":7,"type":"later","x":1}', '{"seq":8', 'x'];
  const paths = makeJob(makePlace(t).root, { events: `${lines.join('\n')}\n` });
  assert.deepEqual(readEvents(paths, 0, 10), { events: [{ seq: 7, type: 'later', x: 1 }], more: false, missed: false });
  assert.equal(openJournal(paths, job).append('ended').seq, 8);
});

test('a job without events has none', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  assert.deepEqual(readEvents(paths, 0, 10), { events: [], more: false, missed: false });
  writeFileSync(paths.events, '');
  assert.deepEqual(readEvents(paths, 0, 10), { events: [], more: false, missed: false });
});

test('garbage longer than a window hides no event, and starts no number again', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  fill(paths, 5, 100);
  appendFileSync(paths.events, '\u0000'.repeat(300_000));
  assert.deepEqual(seqs(readEvents(paths, 0, 10).events), [1, 2, 3, 4, 5]);
  assert.equal(openJournal(paths, job).seq, 5);
});

const forged = (seq: number | string) => `{"seq":${seq},"type":"checkpoint","n":7,"wake":["attention"]}\n`;

for (const seq of [500, 1e15, '1e300', -3, 2.5, 1]) {
  test(`an event numbered ${seq} that the job wrote itself is passed over, by the next writer too`, (t) => {
    const paths = makeJob(makePlace(t).root, {});
    const first = openJournal(paths, job);
    for (let n = 1; n <= 3; n += 1) first.append('tool');
    appendFileSync(paths.events, forged(seq));
    assert.equal(first.append('tool').seq, 4);
    assert.equal(openJournal(paths, job).append('claimed').seq, 5);
    assert.deepEqual(seqs(readEvents(paths, 0, 100).events), upTo(1, 5));
  });
}

test('an event with the very next number counts, and the writer goes on after it', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  const journal = openJournal(paths, job);
  journal.append('claimed');
  appendFileSync(paths.events, forged(2));
  assert.equal(journal.append('checkpoint').seq, 3);
  appendFileSync(paths.events, '{"seq":4,"ty');
  assert.equal(journal.append('stopping').seq, 4);
  const types = readEvents(paths, 0, 100).events.map(({ type }) => type);
  assert.deepEqual(types, ['claimed', 'checkpoint', 'checkpoint', 'stopping']);
});

test('numbers that were lost with torn lines end nothing, but open no more than these', (t) => {
  const torn = '{"seq":2,"at\nx\n';
  const chain = (next: number) => `${forged(1)}${torn}${forged(next)}`;
  const read = (events: string) => seqs(readEvents(makeJob(makePlace(t).root, { events }), 0, 100).events);
  assert.deepEqual(read(chain(4)), [1, 4]);
  assert.deepEqual(read(chain(5)), [1]);
});

test('a file that was emptied goes on with the next number', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  const journal = openJournal(paths, job);
  for (let n = 1; n <= 3; n += 1) journal.append('tool');
  writeFileSync(paths.events, '');
  journal.append('tool');
  journal.append('tool');
  assert.deepEqual(seqs(readEvents(paths, 0, 100).events), [4, 5]);
});

test('a stray number at the beginning of a window is no base', (t) => {
  const paths = makeJob(makePlace(t).root, {});
  fill(paths, 900, 2000);
  const lines = readFileSync(paths.events, 'utf8').split('\n');
  // In every place where a window may begin.
  writeFileSync(
    paths.events,
    lines.map((line, at) => (at % 3 === 0 ? `${line}\n${forged(5000 + at)}` : `${line}\n`)).join(''),
  );
  assert.deepEqual(seqs(readEvents(paths, 890, 100).events), upTo(891, 900));
  assert.equal(openJournal(paths, job).seq, 900);
});
