/** A watch outlives its worker and the machine: whoever comes next goes on from the cursor, tells nothing twice and loses nothing. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { macOfAnswer } from '../../companion/src/store/mac.ts';
import { builtFile, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Job, killNow, untilPid } from '../helpers/jobs.ts';
import { isAlive, killByIdentity } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { launchWatch, makeOracle, newsOf, untilTold } from '../helpers/watches.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const killWorker = (job: Job) => killNow('the worker', job.identity('worker'));

test('a replacement tells what changed meanwhile and repeats nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'echo one; exit 1');
  const job = await launchWatch(workspace, ['cmd', '--every', '1s', '--for', '1h', '--', oracle.program]);
  await untilTold(job);
  const waiting = start(workspace, ['wait', job.id, '--timeout', '5m']);
  await eventually('a wait', () => existsSync(job.path('waiters')) && job.has('waiters'));
  for (const generation of [2, 3]) {
    const calls = oracle.calls();
    await killWorker(job);
    await eventually(
      'a replacement that looked',
      () => job.launch().generation === generation && oracle.calls() > calls,
      {
        limitMs: 20_000,
      },
    );
    assert.equal(job.events('news').length, 1);
  }
  await killWorker(job);
  oracle.answer('echo two; exit 0');
  assert.equal((await waiting.promise).code, 0);
  assert.deepEqual(newsOf(job), ['pending', 'met']);
  assert.deepEqual(
    job.events('worker_replaced').map(({ generation }) => generation),
    [2, 3, 4],
  );
});

test('a change while no worker lived counts from the launch on', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('config', 'one');
  const job = await launchWatch(workspace, ['file', 'config', '--changed', '--for', '1h']);
  await untilTold(job);
  await killWorker(job);
  // As if the file had been lost with the worker.
  rmSync(job.path('cursor.json'));
  workspace.write('config', 'one and more');
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, stdout], [0, `${workspace.path('config')} changed (12 B)\n`]);
  assert.deepEqual(newsOf(job), ['unchanged', 'changed']);
});

test('news that a worker wrote down and did not live to tell are told by the next one', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'out', '--repeat', '--for', '1h']);
  await untilTold(job);
  await killWorker(job);
  const memory = job.json<{ note: { told: number } }>('cursor.json');
  const seen = { verdict: 'met', word: 'exists', evidence: 'it was there for a moment', facts: {} };
  const note = { ...memory.note, ...seen, told: 2 };
  const telling = [{ n: 2, type: 'news', ...seen, key: 'exists', wake: ['news'] }];
  writeFileSync(job.path('cursor.json'), JSON.stringify({ ...memory, note, key: 'exists', telling }));
  const waiting = start(workspace, ['wait', job.id, '--timeout', '5m']);
  await untilTold(job, 3);
  assert.deepEqual(newsOf(job), ['missing', 'exists', 'missing']);
  assert.deepEqual(
    job.events('news').map(({ n }) => n),
    [1, 2, 3],
  );
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  await waiting.promise;
});

for (const bound of ['1h', '6s']) {
  test(`a verdict that was written down with its MAC is the end, a forged one is none (bound ${bound})`, async (t) => {
    const workspace = makeWorkspace(t);
    const jobs = [];
    for (const file of ['a', 'b']) jobs.push(await launchWatch(workspace, ['file', file, '--for', bound]));
    const userKey = readFileSync(join(workspace.home, '.config/job-companion/key'), 'utf8').trim();
    for (const [at, job] of jobs.entries()) {
      await untilTold(job);
      await killWorker(job);
      const memory = job.json<{ note: object }>('cursor.json');
      const note = { ...memory.note, verdict: 'met', word: 'exists', evidence: 'it was there' };
      const end = { reason: 'met', detail: 'it was there' };
      const answer = { what: 'verdict', id: job.id, end: JSON.stringify(end), note: JSON.stringify(note) };
      const seal = await macOfAnswer(answer, at === 0 ? userKey : 'f'.repeat(64));
      writeFileSync(job.path('cursor.json'), JSON.stringify({ ...memory, note, end, seal }));
      writeFileSync(job.path('state.json'), JSON.stringify({ ...job.state(), watch: note }));
    }
    const [ours, forged] = jobs as [Job, Job];
    if (bound !== '1h')
      await eventually('the bound', async () => (await run(workspace, ['status', forged.id])).code !== 2, {
        limitMs: 30_000,
      });
    const real = await run(workspace, ['wait', ours.id]);
    assert.deepEqual([real.code, real.stdout], [0, 'it was there\n']);
    assert.equal((await run(workspace, ['wait', forged.id, '--timeout', '3s'])).code, bound === '1h' ? 2 : 3);
    await run(workspace, ['cancel', forged.id]);
  });
}

for (const [what, text] of [
  ['no JSON', '{"note": '],
  ['numbers', '{"cursor":1,"key":2,"note":3,"cause":4,"telling":5,"end":6}'],
  ['odd counts', '{"note":{"told":1e300,"polls":-1,"troubles":"many"},"telling":[{"n":1e300}]}'],
  ['a cursor of another kind', '{"cursor":{"was":["x"],"since":"y"},"key":"z","note":{"told":1}}'],
] as const) {
  test(`a cursor.json with ${what} costs no news and no job`, async (t) => {
    const workspace = makeWorkspace(t);
    workspace.write('config', 'one');
    const job = await launchWatch(workspace, ['file', 'config', '--changed', '--for', '1h']);
    await untilTold(job);
    await killWorker(job);
    writeFileSync(job.path('cursor.json'), text);
    const waiting = start(workspace, ['wait', job.id, '--timeout', '5m']);
    await eventually('a replacement', () => job.events('worker_replaced').length === 1, { limitMs: 20_000 });
    workspace.write('config', 'one and two');
    assert.equal((await waiting.promise).code, 0);
    assert.equal(newsOf(job).at(-1), 'changed');
    assert.equal(job.events('worker_failed').length, 0);
  });
}

test('what an attempt of a killed worker left is ended by the next one, before it looks', async (t) => {
  const workspace = makeWorkspace(t);
  const file = workspace.path('pid');
  const oracle = makeOracle(workspace, `echo $$ >'${file}.new'; mv '${file}.new' '${file}'; exec sleep 600`);
  const job = await launchWatch(workspace, ['cmd', '--for', '1h', '--attempt-timeout', '10m', '--', oracle.program]);
  const left = await untilPid(file);
  await killWorker(job);
  oracle.answer('exit 1');
  const waiting = start(workspace, ['wait', job.id, '--timeout', '5m']);
  await untilTold(job);
  assert.equal(isAlive(left), false);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.equal((await waiting.promise).code, 4);
});

test('cancel of a watch whose worker is lost', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'never', '--for', '1h']);
  await untilTold(job);
  await killWorker(job);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.equal(job.state().state, 'canceled');
});

test('a watch whose worker was lost before the bound is watch_expired after it, with what was seen last', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'never', '--for', '4s']);
  await untilTold(job);
  await killWorker(job);
  const ended = await eventually(
    'the bound',
    async () => {
      const { code, stdout } = await run(workspace, ['status', job.id, '--json']);
      return code === 3 && stdout;
    },
    { limitMs: 30_000 },
  );
  assert.match(ended, /watch_expired/);
  assert.match(job.state().error?.message ?? '', /the bound of 4s was reached; .*never is not there/);
  assert.equal(job.state().reconciled, true);
});

test('a verdict that somebody wrote into the state is none: the bound is the end', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'never', '--for', '4s']);
  await untilTold(job);
  await killWorker(job);
  const state = job.state();
  const watch = { ...state.watch, verdict: 'met', word: 'exists', evidence: 'it was there' };
  writeFileSync(job.path('state.json'), JSON.stringify({ ...state, watch }));
  const started = Date.now();
  await eventually('the bound to pass', () => Date.now() - started > 4_100);
  const { code, stdout } = await run(workspace, ['result', job.id]);
  assert.deepEqual([code, job.state().error?.code, job.launch().generation], [3, 'watch_expired', 1]);
  assert.doesNotMatch(stdout, /^it was there/);
});

test('after a restart of the machine a replacement goes on', async (t) => {
  const workspace = makeWorkspace(t);
  if (!canUnshareMounts()) return t.skip('needs the right to make a mount namespace');
  const job = await launchWatch(workspace, ['file', 'out', '--for', '1h']);
  await untilTold(job);
  await killWorker(job);
  const waiting = startAfterRestart(workspace, ['wait', job.id, '--timeout', '5m']);
  await eventually('a replacement', () => job.events('worker_replaced').length === 1, { limitMs: 20_000 });
  workspace.write('out', 'x');
  assert.equal(await waiting, 0);
  assert.deepEqual(newsOf(job), ['missing', 'exists']);
});

test('a process that was watched is gone after a restart of the machine', async (t) => {
  const workspace = makeWorkspace(t);
  if (!canUnshareMounts()) return t.skip('needs the right to make a mount namespace');
  const job = await launchWatch(workspace, ['pid', String(process.pid), '--for', '1h']);
  await untilTold(job);
  await killWorker(job);
  assert.equal(await startAfterRestart(workspace, ['wait', job.id, '--timeout', '5m']), 0);
  assert.deepEqual(newsOf(job), ['running', 'gone']);
});

test('a watch ends by its bound, by the clock, also when its worker was stopped meanwhile', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'never', '--for', '3s', '--every', '1s']);
  await untilTold(job);
  const worker = job.identity('worker');
  killByIdentity(worker, 'SIGSTOP');
  const started = Date.now();
  await eventually('the bound to pass', () => Date.now() - started > 3_500);
  const { polls } = job.state().watch ?? { polls: 0 };
  killByIdentity(worker, 'SIGCONT');
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  assert.equal(job.state().error?.code, 'watch_expired');
  assert.ok((job.state().watch?.polls ?? 99) <= polls + 3, 'the missed looks are not made up for');
});

test('a state folder that is gone ends the worker', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'never', '--for', '1h']);
  // Told, and written down: nothing is being written any more.
  await eventually('its first look', () => job.has('state.json') && job.state().watch?.told === 1, { limitMs: 20_000 });
  const worker = job.identity('worker');
  rmSync(workspace.path('.job-state'), { recursive: true });
  await eventually('the worker to leave', () => !isAlive(worker), { limitMs: 30_000 });
  assert.equal(existsSync(workspace.path('.job-state')), false);
});

function canUnshareMounts(): boolean {
  return (
    spawnSync('unshare', ['-m', 'mount', '--bind', '/proc/uptime', '/proc/sys/kernel/random/boot_id']).status === 0
  );
}

/** The built file, on a machine that says it was booted again. */
function startAfterRestart(workspace: Workspace, args: string[]): Promise<number | null> {
  const boot = join(workspace.base, 'boot-id');
  writeFileSync(boot, '01234567-89ab-cdef-0123-456789abcdef\n');
  const script = 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"';
  const child = spawn('unshare', ['-m', 'sh', '-c', script, 'sh', boot, testNode(), builtFile, ...args], {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}
