/**
 * Timers as their callers see them: armed by nobody, due for everybody, said once and verbatim. Nothing of ours runs while one is
 * armed, so there is nothing to kill; what may be lost is only the instant's reader.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Spec } from '../../companion/src/core/job.ts';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job } from '../helpers/jobs.ts';
import { MARKER } from '../helpers/leaks.ts';
import { listProcesses } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

async function arm(workspace: Workspace, ...words: string[]): Promise<Job> {
  const result = await run(workspace, ['timer', ...words, '--id-only']);
  assert.equal(result.code, 0, result.stderr);
  return findJob(workspace, result.stdout.trim());
}

/** As if its instant had come long ago: only this test's clock is set, by writing the record again with the user's own key. */
const soon = ['in', '1s'];
const untilDue = (job: Job) => {
  const due = Date.parse(job.json<Spec>('spec.json').timer?.due_at ?? '');
  return eventually('the instant', () => Date.now() >= due);
};

test('timer in: nothing of ours runs, wait sleeps until it is due and prints the message byte for byte', async (t) => {
  const workspace = makeWorkspace(t);
  const message = 'look at the build: \x1b[31mred\x1b[0m "$HOME" \u00e9 --json\n\n';
  const armed = parseReply(await run(workspace, ['timer', 'in', '2s', '--message', message, '--json']));
  assert.match(String(armed.id), /^timer-/);
  assert.deepEqual([armed.state, armed.durable, armed.slot, armed.new], ['running', true, null, true]);
  assert.deepEqual(listProcesses({ environment: `${MARKER}=${workspace.marker}` }), []);
  const early = await run(workspace, ['wait', String(armed.id), '--timeout', '10ms']);
  assert.equal(early.code, 2);
  const waited = await run(workspace, ['wait', String(armed.id)]);
  assert.deepEqual([waited.code, waited.stdout], [0, message]);
  assert.ok(Date.now() >= Date.parse(String(armed.due_at)));
  assert.match(waited.stderr, new RegExp(`due: ${armed.due_at}`));
  // At least once: whoever collects again gets the same.
  const again = await run(workspace, ['wait', String(armed.id)]);
  assert.deepEqual([again.code, again.stdout], [0, message]);
  const record = parseReply<{ timer: object; ended_at: string }>(
    await run(workspace, ['result', String(armed.id), '--json']),
  );
  assert.deepEqual(record.timer, { due_at: armed.due_at, delay_ms: 2000, message, slot: null, durable: true });
  assert.equal(record.ended_at, armed.due_at);
});

test('a timer that came due with nobody there is settled by the next reader, and exactly once by twenty', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, ...soon, '--message', 'x');
  await untilDue(job);
  assert.equal(job.state().state, 'running');
  const verbs = ['wait', 'observe', 'status', 'result'];
  const readers = Array.from({ length: 20 }, (_, at) => run(workspace, [verbs[at % 4] as string, job.id]));
  for (const { code } of await Promise.all(readers.filter((_, at) => at % 4 === 0))) assert.equal(code, 0);
  await Promise.all(readers);
  assert.deepEqual([job.state().state, job.state().reconciled, job.events('ended').length], ['done', true, 1]);
  assert.deepEqual(job.events('late_evidence'), []);
  assert.equal(existsSync(workspace.path('.job-state', 'active', job.id)), false);
});

test('status reads back what was armed', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '25m', '--message', 'look at the build', '--slot', 'backstop');
  const { timer } = job.json<Spec>('spec.json');
  const page = await run(workspace, ['status', job.id]);
  assert.equal(page.code, 2);
  assert.match(page.stdout, new RegExp(`due: +${timer?.due_at}, in 2\\dm`));
  assert.match(page.stdout, /slot: +backstop/);
  const seen = parseReply(await run(workspace, ['observe', job.id]));
  const { due_in_ms, ...armed } = seen.timer as { due_in_ms: number };
  assert.ok(due_in_ms > 20 * 60_000 && due_in_ms <= 25 * 60_000);
  assert.deepEqual(armed, {
    due_at: timer?.due_at,
    durable: true,
    slot: 'backstop',
    message: 'look at the build',
  });
  assert.deepEqual([seen.supervision, seen.health], ['armed', 'unknown']);
  assert.match((await run(workspace, ['status'])).stdout, /look at the build/);
  assert.equal((await run(workspace, ['doctor', job.id])).code, 0);
});

test('cancel takes the whole id, holds at once, and twice is 0', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, 'in', '1h', '--message', 'never said');
  const short = await run(workspace, ['cancel', job.id.slice(0, -2)]);
  assert.equal(short.code, 1);
  const waiting = start(workspace, ['wait', job.id]);
  await eventually('the wait', () => readdirSync(job.path('waiters')).length === 1);
  for (let round = 0; round < 2; round += 1) {
    const canceled = await run(workspace, ['cancel', job.id, '--why', 'no need']);
    assert.equal(canceled.code, 0, canceled.stderr);
  }
  const waited = await waiting.promise;
  assert.equal(waited.code, 4);
  assert.match(waited.stdout, /Canceled by .*: no need\. It was due at /);
  assert.match(waited.stdout, /never said/);
});

test('cancel after the instant is 1 and changes nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, ...soon, '--message', 'said');
  await untilDue(job);
  const late = await run(workspace, ['cancel', job.id]);
  assert.equal(late.code, 1);
  assert.match(late.stderr, /it ended as done/);
  assert.deepEqual([(await run(workspace, ['wait', job.id])).stdout, job.has('cancel.json')], ['said', false]);
});

test('cancel against the instant, many times: one outcome, and cancel and wait agree on it', async (t) => {
  const workspace = makeWorkspace(t);
  const seen = new Set<number | null>();
  for (let round = 0; round < 13; round += 1) {
    const jobs = await Promise.all(Array.from({ length: 8 }, () => arm(workspace, ...soon, '--message', 'x')));
    await Promise.all(
      jobs.map(async (job, at) => {
        const due = Date.parse(job.json<Spec>('spec.json').timer?.due_at ?? '');
        const lead = 60 + at * 15;
        await eventually('nearly the instant', () => Date.now() >= due - lead, { everyMs: 1 });
        const [canceled, waited] = await Promise.all([
          run(workspace, ['cancel', job.id]),
          run(workspace, ['wait', job.id]),
        ]);
        seen.add(canceled.code);
        assert.deepEqual(
          [waited.code, job.state().state],
          canceled.code === 0 ? [4, 'canceled'] : [0, 'done'],
          `cancel said ${canceled.code}: ${canceled.stderr}`,
        );
        assert.deepEqual([job.events('ended').length, job.events('late_evidence').length], [1, 0]);
      }),
    );
  }
  for (const code of seen) assert.ok(code === 0 || code === 1, `${code}`);
});

test('a slot has one armed timer: a new one replaces it, and the old id cannot cancel the new one', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await arm(workspace, 'in', '1h', '--slot', 'backstop');
  const other = await arm(workspace, 'in', '1h', '--slot', 'other');
  const reply = parseReply(await run(workspace, ['timer', 'in', '2h', '--slot', 'backstop', '--json']));
  assert.deepEqual(reply.replaced, [first.id]);
  const second = findJob(workspace, String(reply.id));
  assert.deepEqual(
    [first, other, second].map((job) => job.state().state),
    ['canceled', 'running', 'running'],
  );
  assert.match(first.text('result.md'), new RegExp(`replaced by ${second.id}`));
  assert.equal(workspace.read('.job-state/slots/backstop').trim(), second.id);
  assert.equal((await run(workspace, ['cancel', first.id])).code, 0);
  assert.equal(second.state().state, 'running');
});

test('a launcher that died between its steps leaves two armed timers of a slot, and the next one replaces both', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await arm(workspace, 'in', '1h', '--slot', 'backstop');
  const second = await arm(workspace, 'in', '1h', '--slot', 'backstop-2');
  // As it is when the launcher of the second died before it wrote the slot: the first stands there, the second's own record counts.
  const orphan = await arm(workspace, 'in', '1h', '--slot', 'x');
  writeFileSync(workspace.path('.job-state', 'slots', 'x'), `${first.id}\n`);
  const reply = parseReply(await run(workspace, ['timer', 'in', '1h', '--slot', 'x', '--json']));
  assert.deepEqual(reply.replaced, [orphan.id]);
  // What a planted slot file names is nobody's business unless that timer is of this slot.
  assert.deepEqual([first.state().state, second.state().state], ['running', 'running']);
});

test('many launchers at once into one slot leave exactly one armed', async (t) => {
  const workspace = makeWorkspace(t);
  const launches = Array.from({ length: 8 }, () => arm(workspace, 'in', '1h', '--slot', 's'));
  const jobs = await Promise.all(launches);
  const armed = jobs.filter((job) => job.state().state === 'running');
  assert.equal(armed.length, 1);
  assert.equal(workspace.read('.job-state/slots/s').trim(), armed[0]?.id);
});

test('a planted link or folder in slots is refused, and nothing is armed', async (t) => {
  const workspace = makeWorkspace(t);
  const kept = await arm(workspace, 'in', '1h');
  const slots = workspace.path('.job-state', 'slots');
  const outside = workspace.write('outside.txt', 'precious\n');
  symlinkSync(outside, join(slots, 'link'));
  mkdirSync(join(slots, 'folder'));
  for (const name of ['link', 'folder']) {
    const refused = await run(workspace, ['timer', 'in', '1h', '--slot', name]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot use the slot/);
  }
  assert.equal(readFileSync(outside, 'utf8'), 'precious\n');
  for (const name of ['', '../x', 'a/b', '.hidden', '-x', 'x'.repeat(65), 'a b', 'a\n']) {
    const refused = await run(workspace, ['timer', 'in', '1h', '--slot', name]);
    assert.equal(refused.code, 1, name);
    assert.match(refused.stderr, /cannot take --slot/);
  }
  assert.deepEqual(readdirSync(workspace.path('.job-state', 'active')), [kept.id]);
});

test('64 timers are armed without any process; the 65th is refused until one is canceled or due', async (t) => {
  const workspace = makeWorkspace(t);
  const ids: string[] = [];
  for (let batch = 0; batch < 8; batch += 1)
    ids.push(...(await Promise.all(Array.from({ length: 8 }, () => arm(workspace, 'in', '1h')))).map((job) => job.id));
  assert.deepEqual(listProcesses({ environment: `${MARKER}=${workspace.marker}` }), []);
  const refused = await run(workspace, ['timer', 'in', '1h']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /64 are armed[\s\S]*cancel timer-/);
  assert.equal(readdirSync(workspace.path('.job-state', 'jobs')).length, 64);
  assert.equal((await run(workspace, ['cancel', ids[9] as string])).code, 0);
  const slotted = await arm(workspace, 'in', '1h', '--slot', 's');
  // Into a slot that is taken it needs no place of its own.
  await arm(workspace, 'in', '1h', '--slot', 's');
  assert.equal(slotted.state().state, 'canceled');
  assert.equal((await run(workspace, ['timer', 'in', '1h'])).code, 1);
});

test('a once-key arms once: the same delay or instant gives the same timer, another message is refused', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await arm(workspace, 'in', '1h', '--once-key', 'k', '--message', 'a');
  assert.equal((await arm(workspace, 'in', '1h', '--once-key', 'k', '--message', 'a')).id, first.id);
  assert.equal((await arm(workspace, 'in', '60m', '--once-key', 'k', '--message', 'a')).id, first.id);
  assert.equal((await run(workspace, ['timer', 'in', '1h', '--once-key', 'k', '--message', 'b'])).code, 1);
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const second = await arm(workspace, 'at', at, '--once-key', 'l');
  assert.equal((await arm(workspace, 'at', at.replace('Z', '+00:00'), '--once-key', 'l')).id, second.id);
  assert.notEqual(second.id, first.id);
});

test('restart arms the same delay again; an instant does not come again, and a timer has no conversation', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await arm(workspace, ...soon, '--message', 'again', '--slot', 's');
  await untilDue(job);
  assert.equal((await run(workspace, ['wait', job.id])).stdout, 'again');
  const reply = parseReply(await run(workspace, ['restart', job.id, '--json']));
  const next = findJob(workspace, String(reply.id));
  const { timer, lineage } = next.json<Spec>('spec.json');
  assert.deepEqual([timer?.delay_ms, timer?.message, timer?.slot], [1000, 'again', 's']);
  assert.deepEqual([lineage?.relation, lineage?.parent], ['restart', job.id]);
  assert.equal((await run(workspace, ['wait', next.id])).stdout, 'again');
  const at = await arm(workspace, 'at', new Date(Date.now() + 3_600_000).toISOString());
  const goOn = async (id: string) => (await run(workspace, ['continue', '--job', id, '--prompt', 'go on'])).stderr;
  // No command is named that cannot work.
  assert.match(await goOn(at.id), new RegExp(`\ntry: .* wait ${at.id} --timeout 10m\n$`));
  assert.equal((await run(workspace, ['cancel', at.id])).code, 0);
  assert.doesNotMatch(await goOn(at.id), /try:/);
  assert.match(await goOn(job.id), new RegExp(`\ntry: .* restart ${job.id}\n$`));
  const refused = await run(workspace, ['restart', at.id]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /does not come again/);
  const continued = await run(workspace, ['continue', '--job', job.id, '--prompt', 'go on']);
  assert.equal(continued.code, 1);
  assert.match(continued.stderr, /a timer job keeps no conversation/);
});

test('bad input is refused in one sentence and nothing is made', async (t) => {
  const workspace = makeWorkspace(t);
  const cases: [words: string[], why: RegExp][] = [
    [['at', '2020-01-01T00:00:00Z'], /that was \d+d.* ago; the clock here says 20/],
    [['at', '2099-01-01T00:00:00Z'], /30d is the most/],
    [['at', '2099-01-01T00:00:00Z'], /and an hour from now is \d{4}-\d\d-\d\dT\d\d:\d\d:00Z\n/],
    [['at', '2099-01-01T00:00:00'], /says no Z and no offset/],
    [['at', '2099-02-30T00:00:00Z'], /no such day/],
    [['in', '5'], /no duration/],
    [['in', '999ms'], /out of range; allowed: 1s to 30d/],
    [['in', '31d'], /out of range/],
    [['in', '99999999999999d'], /out of range/],
    [['in', '-5s'], /negative/],
    [['in'], /the form is timer in DELAY/],
    [['in', '1h', 'x'], /cannot take "x"/],
    [['soon'], /the forms are timer in DELAY and timer at INSTANT/],
    [[], /the forms are/],
    [['in', '1h', '--message', 'm'.repeat(64 * 1024 + 1)], /at most 65536/],
  ];
  for (const [words, why] of cases) {
    const refused = await run(workspace, ['timer', ...words]);
    assert.equal(refused.code, 1, words.join(' '));
    assert.match(refused.stderr, why);
  }
  assert.equal(existsSync(workspace.path('.job-state')), false);
  const largest = await arm(workspace, ...soon, '--message', '\u00e9'.repeat(32 * 1024));
  assert.equal((await run(workspace, ['wait', largest.id])).stdout, '\u00e9'.repeat(32 * 1024));
  const empty = await run(workspace, ['timer', ...soon, '--wait']);
  assert.deepEqual([empty.code, empty.stdout], [0, '']);
});

test('a timer whose record was changed or damaged is damaged for everybody, and never silent', async (t) => {
  const workspace = makeWorkspace(t);
  const changed = await arm(workspace, 'in', '1h', '--message', 'mine');
  const spec = changed.json<Spec>('spec.json');
  writeFileSync(
    changed.path('spec.json'),
    JSON.stringify({ ...spec, timer: { ...spec.timer, due_at: '2020-01-01T00:00:00.000Z', message: 'theirs' } }),
  );
  const torn = await arm(workspace, 'in', '1h');
  writeFileSync(torn.path('state.json'), '{"rev":');
  const pointless = await arm(workspace, 'in', '1h');
  writeFileSync(pointless.path('spec.json'), JSON.stringify({ ...spec, id: pointless.id, timer: { due_at: 'soon' } }));
  for (const job of [changed, torn, pointless]) {
    for (const verb of ['wait', 'observe', 'status']) {
      const seen = await run(workspace, [verb, job.id]);
      assert.equal(seen.code, 3, `${verb} ${seen.stdout}`);
      assert.match(seen.stdout, /state_damaged/);
      assert.doesNotMatch(seen.stdout, /theirs/);
    }
    assert.equal((await run(workspace, ['doctor', job.id])).code, 3);
  }
});

test('clean never removes an armed timer, and removes a settled one', async (t) => {
  const workspace = makeWorkspace(t);
  const armed = await arm(workspace, 'in', '1h');
  const due = await arm(workspace, ...soon);
  await untilDue(due);
  assert.equal((await run(workspace, ['wait', due.id])).code, 0);
  await run(workspace, ['clean', '--older-than', '0s', '--yes']);
  assert.deepEqual(readdirSync(workspace.path('.job-state', 'jobs')), [armed.id]);
});
