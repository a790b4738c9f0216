/**
 * S2, watches of a caller that sleeps: bounded, checked before anything is made, and with evidence at the end.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import test from 'node:test';
import * as z from 'zod';
import type { Spec } from '../../../companion/src/core/job.ts';
import { run } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { launchHeld } from '../../helpers/jobs.ts';
import { listJobs } from '../../helpers/rows.ts';
import { launchWatch, makeOracle, newsOf, untilTold } from '../../helpers/watches.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

test('S2.52 a condition that does not exist is refused, and the answer lists those that do', async (t) => {
  const workspace = makeWorkspace(t);
  for (const kind of ['event_type', 'deadline', 'Job', '']) {
    const { code, stderr } = await run(workspace, ['watch', kind, '--for', '1h']);
    assert.equal(code, 1);
    for (const known of ['file', 'job', 'git', 'cmd', 'review']) assert.match(stderr, new RegExp(`\\b${known}\\b`));
  }
  assert.deepEqual(listJobs(workspace), []);
});

test('S2.60 a watch is what its words say, unknown words are refused, and one wait takes every wake of several jobs', async (t) => {
  const workspace = makeWorkspace(t);
  const watch = await launchWatch(workspace, ['file', workspace.path('x'), '--contains', 'ready', '--for', '2h']);
  const { watch: part, deadline_ms } = watch.json<Spec>('spec.json');
  assert.deepEqual([part?.condition, deadline_ms], ['file', 7_200_000]);
  assert.equal((await run(workspace, ['watch', 'file', 'x', '--for', '1h', '--once-only'])).code, 1);
  assert.equal((await run(workspace, ['watch', 'file', 'x'])).code, 1);
  const job = await launchHeld(workspace, { options: ['--expect', '1ms', '--checkpoint-every', '300ms'] });
  const words = ['wait', '--any', watch.id, job.id, '--json', '--until', 'attention,news', '--timeout', '50s'];
  const woken = await run(workspace, words);
  assert.equal(woken.code, 2);
  assert.ok(woken.stdout.includes(job.id));
  workspace.write('x', 'it is ready\n');
  assert.equal((await run(workspace, ['wait', watch.id])).code, 0);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.94 a watch of a command ends at its bound, says that it gave up, and shows the last evidence', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'echo "3 of 7 ready"; exit 1');
  const job = await launchWatch(workspace, ['cmd', '--every', '1s', '--for', '3s', '--', oracle.program]);
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, job.state().error?.code], [3, 'watch_expired']);
  assert.match(stdout + stderr, /3 of 7 ready/);
  assert.match(stdout + stderr, /3s/);
  assert.ok(oracle.calls() >= 2);
});

test('S2.96 failed looks up to the tolerance are told once and end nothing; one more ends the watch', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'exec sleep 300');
  const bounds = ['--every', '1s', '--for', '10m', '--attempt-timeout', '300ms'];
  const words = ['cmd', ...bounds, '--tolerate', '2', '--', oracle.program];
  const patient = await launchWatch(workspace, words);
  await eventually('a failed look', () => patient.events('trouble').length === 1, { limitMs: 30_000 });
  oracle.answer('exit 0');
  assert.equal((await run(workspace, ['wait', patient.id, '--timeout', '55s'])).code, 0);
  assert.deepEqual([patient.events('trouble').length, patient.events('recovered').length], [1, 1]);
  oracle.answer('exec sleep 300');
  const strict = await launchWatch(
    workspace,
    words.map((word) => (word === '2' ? '0' : word)),
  );
  assert.equal((await run(workspace, ['wait', strict.id, '--timeout', '55s'])).code, 3);
  assert.equal(strict.state().error?.code, 'watch_error');
});

test('S2.97 evidence has at most 200 characters wherever it is kept', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'printf "%05000d\\n" 7');
  const job = await launchWatch(workspace, ['cmd', '--every', '1s', '--for', '10m', '--', oracle.program]);
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const told = z.object({ evidence: z.string().min(100).max(200) });
  assert.ok(job.events('news').length > 0);
  for (const event of job.events('news')) told.parse(event);
  assert.doesNotMatch(job.text('state.json') + job.text('result.md'), /0{201}/);
});

test('S2.98 a pattern that is none is refused, a good one finds text that came in pieces, and each place once', async (t) => {
  const workspace = makeWorkspace(t);
  const file = workspace.write('log', 'nothing yet\n');
  const bad = await run(workspace, ['watch', 'file', file, '--matches', '(', '--for', '1h']);
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /--matches/);
  assert.deepEqual(listJobs(workspace), []);
  const words = ['file', file, '--matches', '^ALL \\d+ PASSED$', '--every', '1s', '--for', '1h', '--repeat'];
  const watch = await launchWatch(workspace, words);
  await untilTold(watch);
  const before = newsOf(watch).length;
  appendFileSync(file, 'ALL 7');
  appendFileSync(file, '1 PASSED\n');
  await untilTold(watch, before + 1);
  appendFileSync(file, 'more\n');
  // It looks again, and tells nothing of the same place.
  const next = await run(workspace, [
    'wait',
    watch.id,
    '--until',
    'news',
    '--after-seq',
    `${watch.events('news').at(-1)!.seq}`,
    '--timeout',
    '3s',
  ]);
  assert.equal(next.code, 2);
  assert.equal(newsOf(watch).length, before + 1);
  assert.equal((await run(workspace, ['cancel', watch.id])).code, 0);
});
