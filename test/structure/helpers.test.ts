/**
 * The helpers that other tests trust: a workspace is clean and shut off from the machine, waiting has a limit and says what
 * it saw, a process is known by more than its pid, and a command that hangs or leaves its output open is a failure.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

test('a workspace is a committed repository beside a home of its own, or a plain folder in no repository', (t) => {
  const workspace = makeWorkspace(t);
  assert.equal(workspace.git('status', '--porcelain'), '');
  assert.equal(workspace.git('rev-parse', '--show-toplevel').trim(), workspace.dir);
  assert.equal(workspace.git('log', '--format=%s').trim(), 'Start');
  assert.equal(workspace.read('README.md'), '# A project\n');
  const plain = makeWorkspace(t, { git: false });
  assert.throws(() => plain.git('rev-parse', '--show-toplevel'), /not a git repository/);
});

test('a workspace gives programs six variables and none of the machine', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const { stdout } = await runCode(workspace, 'console.log(JSON.stringify(process.env))');
  const seen = JSON.parse(stdout);
  assert.deepEqual(Object.keys(seen).sort(), ['HOME', 'JOB_TEST_MARKER', 'LANG', 'PATH', 'XDG_CONFIG_HOME']);
  assert.ok(seen.HOME.startsWith(workspace.base) && seen.XDG_CONFIG_HOME.startsWith(workspace.base));
  assert.doesNotMatch(seen.PATH, /node_modules\/\.bin/);
});

test('a workspace runs deferred clean-ups, the last one first, and then is gone', async (t) => {
  const order: number[] = [];
  let base = '';
  await t.test('inside', (inner) => {
    const workspace = makeWorkspace(inner, { git: false });
    base = workspace.base;
    workspace.defer(() => order.push(existsSync(base) ? 1 : 0));
    workspace.defer(() => order.push(2));
  });
  assert.deepEqual(order, [2, 1]);
  assert.equal(existsSync(base), false);
});

test('eventually resolves with the first truthy value, whatever was thrown before', async () => {
  let asked = 0;
  const value = await eventually('the third look', () => {
    asked += 1;
    if (asked === 1) throw new Error('not there');
    return asked === 3 && 'found';
  });
  assert.equal(value, 'found');
});

test('eventually gives up at its limit and says what it last saw', async () => {
  const limit = { limitMs: 60, everyMs: 10 };
  await assert.rejects(
    eventually('a miracle', () => 0, limit),
    {
      message: 'waited 60 ms for a miracle; at last the condition is 0',
    },
  );
  const throws = () => {
    throw new Error('no file');
  };
  await assert.rejects(eventually('a file', throws, limit), { message: /at last it throws no file/ });
});

test('a process is known by pid and start time, and a wrong start time gets no signal', async (t) => {
  const { env } = makeWorkspace(t, { git: false });
  const child = spawn('sleep', ['300'], { env, stdio: 'ignore' });
  const identity = readIdentity(child.pid!)!;
  assert.equal(isAlive(identity), true);
  assert.equal(isAlive({ ...identity, startTime: '1' }), false);
  assert.equal(killByIdentity({ ...identity, startTime: '1' }), false);
  assert.equal(isAlive(identity), true);
  assert.equal(killByIdentity(identity), true);
  await eventually('the process to be gone', () => !isAlive(identity));
});

test('run gives code, both streams, exact bytes and the time, and passes input, folder and variables on', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const code = `process.stdin.on('data', (d) => process.stdout.write(d)).on('end', () => {
    console.error(process.cwd(), process.env.EXTRA, process.env.LANG, process.argv.slice(2));
    process.exitCode = 3;
  })`;
  const input = Buffer.from([0, 255, 10]);
  const result = await runCode(workspace, code, { input, cwd: workspace.base, env: { EXTRA: 'x', LANG: undefined } });
  assert.equal(result.code, 3);
  assert.deepEqual(result.stdoutBytes, input);
  assert.equal(result.stderr, `${workspace.base} x undefined [ 'an argument' ]\n`);
  assert.ok(result.ms > 0);
});

test('run rejects a command that is not over at its limit, and ends it', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const running = start(workspace, [], {
    nodeOptions: ['-e', "console.log('begun'); setInterval(() => {}, 999)"],
    limitMs: 500,
  });
  await assert.rejects(running.promise, /not over after 500 ms, killed\nstdout: begun/);
  await eventually('the command to be gone', () => !isAlive(running.identity));
});

test('run rejects a command whose output is held open by a process it left behind', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const code = "require('child_process').spawn('sleep', ['2.5'], { stdio: 'inherit', detached: true }).unref()";
  await assert.rejects(runCode(workspace, code), /a process it left behind holds its stdout or stderr/);
});

test('start shows what was printed so far and kills by identity', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const running = start(workspace, [], { nodeOptions: ['-e', "console.log('begun'); setInterval(() => {}, 999)"] });
  await eventually('its first line', () => running.stdout() === 'begun\n');
  assert.equal(running.kill('SIGKILL'), true);
  assert.equal((await running.promise).signal, 'SIGKILL');
  assert.equal(running.kill('SIGKILL'), false);
});

test('a .sh file is imported as its text, and the version is that of package.json', async (t) => {
  const path = makeWorkspace(t, { git: false }).write('a.sh', 'echo "$1"\n');
  assert.equal((await import(path)).default, 'echo "$1"\n');
  assert.match(__VERSION__, /^\d+\.\d+\.\d+/);
  assert.ok(existsSync(join(import.meta.dirname, '../../companion/src/types.d.ts')));
});

/** `node -e CODE BUILT-FILE 'an argument'`: the plumbing of `run` without the program. */
function runCode(workspace: Workspace, code: string, options = {}) {
  return run(workspace, ['an argument'], { nodeOptions: ['-e', code], ...options });
}
