/**
 * Once-keys (contract 4): one key is one job and one execution, from fifty launchers at once, after its end, after `clean`, and
 * wherever a launcher is killed on its way. A launcher is killed by a preload that counts its steps on the file system.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, type RunOptions, type RunResult, run } from '../helpers/companion.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

test('fifty launchers with one key, ten at a time: one id, one execution, all exit 0', async (t) => {
  const workspace = makeWorkspace(t);
  const args = ['run', '--once-key', 'nightly', '--json', '--', 'sh', '-c', 'echo run >>count; sleep 0.2; echo ran'];
  const replies = await inParallel(
    10,
    Array.from({ length: 50 }, () => () => run(workspace, args)),
  );
  assert.deepEqual([...new Set(replies.map(({ code }) => code))], [0], replies.find(({ code }) => code !== 0)?.stderr);
  const documents = replies.map((reply) => parseReply<{ id: string; new: boolean }>(reply));
  const ids = [...new Set(documents.map(({ id }) => id))];
  assert.equal(ids.length, 1);
  assert.equal(documents.filter((document) => document.new).length, 1);
  assert.equal((await run(workspace, ['wait', ids[0] ?? ''])).stdout, 'ran\n');
  assert.equal(workspace.read('count'), 'run\n');
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), ids);
});

test('a key gives the same job after its end and after clean, and never a second execution', async (t) => {
  const workspace = makeWorkspace(t);
  const args = ['run', '--once-key', 'k', '--', 'sh', '-c', 'echo run >>count; exit 3'];
  const id = await launch(workspace, args);
  assert.equal((await run(workspace, ['wait', id])).code, 3);
  assert.equal(await launch(workspace, args), id);
  const told = await run(workspace, args);
  assert.match(told.stdout, new RegExp(`^job ${id} \\(this once-key had it already; nothing was started\\)`));
  // Waiting for it is waiting for the one that is there.
  assert.equal((await run(workspace, [...args.slice(0, 3), '--wait', ...args.slice(3)])).code, 3);

  const clean = await run(workspace, ['clean', '--older-than', '0s', '--yes', '--json']);
  assert.deepEqual(parseReply<{ removed: string[] }>(clean).removed, [id]);
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), []);
  assert.equal(await launch(workspace, args), id);
  assert.equal(workspace.read('count'), 'run\n');
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), []);
});

test('a key with another request is refused, names the job and starts nothing', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  mkdirSync(workspace.path('below'));
  const id = await launch(workspace, ['run', '--once-key', 'k', '--', 'echo', 'one']);
  const others = [
    ['run', '--once-key', 'k', '--', 'echo', 'two'],
    ['run', '--once-key', 'k', '--', 'echo', 'one', ''],
    ['run', '--once-key', 'k', '--timeout', '5m', '--', 'echo', 'one'],
    ['run', '--once-key', 'k', '--cwd', 'below', '--', 'echo', 'one'],
    ['run', '--once-key', 'k', '--success-exit', '1', '--', 'echo', 'one'],
    ['staffer', '--once-key', 'k', '--backend', 'cat', '--prompt', 'one'],
  ];
  for (const args of others) {
    const refused = await run(workspace, args);
    assert.deepEqual([args, refused.code, refused.stdout], [args, 1, '']);
    assert.match(refused.stderr, new RegExp(`^job-companion: cannot use --once-key "k": job ${id} has this key`));
  }
  // Who asks, and what it is called, makes no other request.
  const same = ['run', '--once-key', 'k', '--owner', 'me', '--label', 'again', '--', 'echo', 'one'];
  assert.equal(await launch(workspace, same), id);
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), [id]);
});

test('keys are any text: each its own job, and no path', async (t) => {
  const workspace = makeWorkspace(t);
  const keys = ['a', 'A', 'a ', '../../key', '/etc/passwd', '--wait', 'ключ', 'x'.repeat(5_000), 'two\nlines', '.'];
  const ids = [];
  for (const key of keys) ids.push(await launch(workspace, ['run', '--once-key', key, '--', 'true']));
  assert.equal(new Set(ids).size, keys.length);
  for (const [at, key] of keys.entries()) {
    assert.equal(await launch(workspace, ['run', '--once-key', key, '--', 'true']), ids[at], key.slice(0, 20));
  }
  assert.equal((await run(workspace, ['wait', '--all', ...ids])).code, 0);
  assert.ok(readdirSync(workspace.path('.job-state/once')).every((name) => /^[0-9a-f]{40}$/.test(name)));
});

test('a staff job has its key as well', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const args = ['staffer', '--once-key', 'k', '--backend', 'cat', '--prompt', 'once'];
  const id = await launch(workspace, args);
  assert.equal(await launch(workspace, args), id);
  assert.equal((await run(workspace, [...args, '--wait'])).stdout, 'once');
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), [id]);
});

test('a launcher that is killed at any of its steps: the key gives one job that ran once or never_started', async (t) => {
  const workspace = makeWorkspace(t);
  const crash = join(workspace.base, 'crash.cjs');
  writeFileSync(crash, crashScript);
  // The state folder and the key are there already, as at most launches.
  assert.equal((await run(workspace, ['run', '--wait', '--', 'true'])).code, 0);
  const jobs: { at: number; id: string }[] = [];
  for (let at = 0; ; at += 1) {
    assert.ok(at < 200, 'a launch has more steps than can be');
    const args = ['run', '--once-key', `${at}`, '--', 'sh', '-c', 'echo run >>"$0"', workspace.path(`count-${at}`)];
    const first = await run(workspace, ['run', '--id-only', ...args.slice(1)], dyingAt(at, crash));
    if (first.signal === null) {
      assert.deepEqual([first.code, first.stderr], [0, '']);
      break;
    }
    const id = await launch(workspace, args);
    if (first.stdout !== '') assert.equal(first.stdout.trim(), id);
    assert.equal(await launch(workspace, args), id, `killed at step ${at}`);
    jobs.push({ at, id });
  }
  assert.ok(jobs.length > 20, `only ${jobs.length} steps were found to die at`);

  const outcomes = { ran: 0, neverStarted: 0 };
  const waited = await run(workspace, ['wait', '--all', '--json', ...jobs.map(({ id }) => id), '--timeout', '45s']);
  assert.equal(waited.code, 3, waited.stderr);
  for (const { at, id } of jobs) {
    const state = JSON.parse(readFileSync(workspace.path('.job-state/jobs', id, 'state.json'), 'utf8'));
    const count = workspace.path(`count-${at}`);
    const runs = existsSync(count) ? readFileSync(count, 'utf8') : '';
    const seen = `killed at step ${at}: ${state.state} ${state.error?.code}, ran ${JSON.stringify(runs)}`;
    if (state.state === 'done') assert.equal(runs, 'run\n', seen);
    else assert.deepEqual([state.state, state.error?.code, runs], ['failed', 'never_started', ''], seen);
    outcomes[state.state === 'done' ? 'ran' : 'neverStarted'] += 1;
  }
  assert.ok(outcomes.ran > 0 && outcomes.neverStarted > 0, JSON.stringify(outcomes));
  assert.deepEqual(
    readdirSync(workspace.path('.job-state/active')).filter((id) => jobs.some((job) => job.id === id)),
    [],
  );
  assert.equal((await run(workspace, ['status'])).code, 0);
  assert.equal((await run(workspace, ['run', '--wait', '--', 'echo', 'next'])).stdout, 'next\n');
});

/** Kills its own process just before the step of that number. */
const crashScript = `
const fs = require('node:fs');
const processes = require('node:child_process');
let left = Number(process.env.CRASH_AT);
const steps = ['mkdirSync', 'openSync', 'writeSync', 'fsyncSync', 'linkSync', 'renameSync', 'unlinkSync'];
for (const [from, names] of [[fs, steps], [processes, ['spawn']]]) {
  for (const name of names) {
    const real = from[name];
    from[name] = (...args) => {
      if (left-- === 0) process.kill(process.pid, 'SIGKILL');
      return real(...args);
    };
  }
}
`;

function dyingAt(step: number, script: string): RunOptions {
  return { nodeOptions: ['--require', script], env: { CRASH_AT: `${step}` } };
}

async function launch(workspace: Workspace, [verb = '', ...rest]: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, [verb, '--id-only', ...rest]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

/** At most so many at a time; the results in the order of the tasks. */
async function inParallel(count: number, tasks: (() => Promise<RunResult>)[]): Promise<RunResult[]> {
  const results: RunResult[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < tasks.length; at = next++) results[at] = await tasks[at]!();
  };
  await Promise.all(Array.from({ length: count }, worker));
  return results;
}

function withBackend(workspace: Workspace): void {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends: { cat: { argv: ['cat'] } } }));
}
