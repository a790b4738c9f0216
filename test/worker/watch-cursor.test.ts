/** cursor.json and the journal together: whenever a worker was killed, the next one tells exactly what is not told; and a cursor.json that
 * somebody else wrote is worth nothing, and breaks nothing. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { openJournal } from '../../companion/src/store/journal.ts';
import { type JobPaths, jobPaths } from '../../companion/src/store/layout.ts';
import { readMemory, writeMemory } from '../../companion/src/worker/watch-cursor.ts';
import { fold, freshMemory, type Memory } from '../../companion/src/worker/watch-memory.ts';

const id = 'watch-mik3x9ab-4f7q2z';
const part = {
  condition: 'toy',
  input: {},
  words: 'toy',
  every_ms: 1000,
  attempt_ms: 1000,
  tolerate: null,
  repeat: false,
};

function makePaths(t: TestContext): JobPaths {
  const root = mkdtempSync(join(tmpdir(), 'jct-cursor-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const paths = jobPaths(root, id);
  mkdirSync(paths.folder, { recursive: true });
  return paths;
}

function look(memory: Memory, key: string): Memory {
  return fold(
    memory,
    { kind: 'look', verdict: 'pending', word: key, evidence: key, key, facts: { key }, cursor: { key } },
    part,
  );
}

function tell(paths: JobPaths, memory: Memory): void {
  const journal = openJournal(paths, { id, owner: null });
  for (const { type, ...fields } of memory.telling) journal.append(type, fields);
}

test('a worker killed before it told leaves it to the next one', (t) => {
  const paths = makePaths(t);
  const memory = look(freshMemory(null), 'red');
  writeMemory(paths, memory);
  const read = readMemory(paths, null);
  assert.deepEqual(read.telling, memory.telling);
  assert.deepEqual([read.key, read.cursor, read.note], [memory.key, memory.cursor, memory.note]);
});

test('a worker killed after it told leaves nothing to tell', (t) => {
  const paths = makePaths(t);
  const memory = look(freshMemory(null), 'red');
  writeMemory(paths, memory);
  tell(paths, memory);
  openJournal(paths, { id, owner: null }).append('worker_replaced');
  assert.deepEqual(readMemory(paths, null).telling, []);
});

test('of two things to tell, only the second is told when the first was', (t) => {
  const paths = makePaths(t);
  let memory = look(freshMemory(null), 'red');
  tell(paths, memory);
  memory = fold(memory, { kind: 'trouble', cause: 'network', message: 'down', retryAfterMs: null }, part);
  tell(paths, memory);
  memory = look(memory, 'blue');
  writeMemory(paths, memory);
  tell(paths, { ...memory, telling: memory.telling.slice(0, 1) });
  assert.deepEqual(
    readMemory(paths, null).telling.map(({ type, n }) => [type, n]),
    [['news', 4]],
  );
});

test('without cursor.json the journal says what was told, and the first look begins at the launch', (t) => {
  const paths = makePaths(t);
  const memory = look(freshMemory(null), 'red');
  tell(paths, memory);
  const read = readMemory(paths, { was: 'launch' });
  assert.deepEqual([read.key, read.note.told, read.note.word, read.cursor], ['red', 1, 'red', { was: 'launch' }]);
  assert.deepEqual(look(read, 'red').telling, []);
});

const hostile: [string, unknown][] = [
  ['no JSON', undefined],
  ['a list', []],
  ['nothing', {}],
  ['numbers for texts', { cursor: 7, key: 7, note: 7, cause: 7, telling: 7, end: 7 }],
  ['odd counts', { note: { told: -1, polls: 1e300, troubles: 'x' }, telling: [{ n: 2 ** 60, type: 'news' }] }],
  ['an unknown event', { telling: [{ n: 9, type: 'ended', state: 'done' }, null, 'x'] }],
  ['news without a verdict', { telling: [{ n: 9, type: 'news', key: 'x', word: 'y', evidence: 'z', verdict: 'won' }] }],
  ['an unknown end', { end: { reason: 'canceled', detail: 'x' } }],
  ['an end without words', { end: { reason: 'met' } }],
  ['deep nesting', { cursor: JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) }],
];
for (const [what, value] of hostile) {
  test(`a cursor.json with ${what} is a memory like any other`, (t) => {
    const paths = makePaths(t);
    writeFileSync(paths.cursor, value === undefined ? '{"cursor": {' : JSON.stringify(value));
    const read = readMemory(paths, null);
    assert.deepEqual([read.telling, read.end], [[], null]);
    for (const count of [read.note.told, read.note.polls, read.note.troubles]) assert.ok(Number.isSafeInteger(count));
    assert.equal(look(read, 'red').telling.length, 1);
  });
}

test('what a foreign cursor.json wants told is plain and short', (t) => {
  const paths = makePaths(t);
  const evil = `\x1b]0;title\x07${'x'.repeat(100_000)}`;
  const news = {
    n: 1,
    type: 'news',
    verdict: 'pending',
    word: evil,
    evidence: evil,
    key: 'k',
    facts: { evil },
    wake: ['terminal', 'bogus'],
  };
  writeFileSync(
    paths.cursor,
    JSON.stringify({ note: { told: 1, trouble: evil }, telling: [news, { n: 2, type: 'trouble', message: evil }] }),
  );
  const { telling, note } = readMemory(paths, null);
  assert.ok(JSON.stringify([telling, note]).length < 4_000);
  assert.doesNotMatch(JSON.stringify(telling), /u001b/);
  assert.equal(telling.length, 2);
});
