/**
 * `verify --rerun CMD` (feature row S2.102): tests run again only with the caller's own command, in the folder of the job, without a shell, bounded,
 * and with nothing left behind.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { claim, verify } from '../helpers/claims.ts';
import { run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Job } from '../helpers/jobs.ts';
import { untilPid } from '../helpers/jobs.ts';
import { isAlive, readIdentity } from '../helpers/process.ts';
import { makeStaff } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const passing = { tests: [{ name: 'unit', result: 'pass' }], commands: [{ command: 'touch claimed', exitCode: 0 }] };

async function claiming(workspace: Workspace, fields: object = passing): Promise<Job> {
  const staff = makeStaff(workspace);
  staff.act(claim(fields));
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  return job;
}

test('exit 0 verifies a claimed pass, anything else contradicts it; without --rerun nothing is run', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await claiming(workspace);
  const without = await verify(workspace, job.id);
  assert.deepEqual([without.code, without.rows[1], without.reply.rerun], [0, 'test unit: pass: recorded', null]);
  const good = await verify(workspace, job.id, ['--rerun', 'sh -c "pwd >where; echo fine"']);
  assert.deepEqual([good.code, good.rows[1]], [0, 'test unit: pass: verified']);
  assert.equal(workspace.read('where').trim(), workspace.dir);
  assert.deepEqual([good.reply.rerun?.passed, good.reply.rerun?.stdout_tail], [true, 'fine\n']);
  const words = JSON.stringify(['sh', '-c', 'echo "$0 $1" >&2; exit 5', 'a b', '$HOME *']);
  const bad = await verify(workspace, job.id, ['--rerun', words]);
  assert.deepEqual(
    [bad.code, bad.rows[1], bad.reply.error?.code],
    [3, 'test unit: pass: contradicted', 'contradicted'],
  );
  assert.deepEqual([bad.reply.rerun?.exit_code, bad.reply.rerun?.stderr_tail], [5, 'a b $HOME *\n']);
  const page = await run(workspace, ['verify', job.id, '--rerun', 'sh -c "echo broken; exit 1"']);
  assert.equal(page.code, 3);
  assert.match(page.stdout, /^contradicted {2}test unit: pass: it ended with 1$/m);
  assert.match(page.stderr, /^broken$/m);
  assert.equal(existsSync(workspace.path('claimed')), false);
});

test('a command that takes too long, floods, or dies by a signal passes nothing and leaves nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await claiming(workspace);
  const pid = join(workspace.base, 'pid');
  const hang = `sh -c "trap '' TERM; sleep 600 & echo \\$! >${pid}; wait; wait"`;
  const late = await verify(workspace, job.id, ['--rerun', hang, '--rerun-timeout', '1s']);
  assert.deepEqual(
    [late.code, late.rows[1], late.reply.error?.code],
    [3, 'test unit: pass: unverifiable', 'unverifiable'],
  );
  assert.match(late.details[1] ?? '', /longer than 1s/);
  const left = Number(readFileSync(pid, 'utf8'));
  await eventually('its child to be gone', () => readIdentity(left) === undefined);
  const flood = await verify(workspace, job.id, [
    '--rerun',
    'sh -c "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"',
  ]);
  assert.deepEqual([flood.code, flood.rows[1]], [3, 'test unit: pass: unverifiable']);
  const died = await verify(workspace, job.id, ['--rerun', "sh -c 'kill -9 $$'"]);
  assert.deepEqual([died.code, died.rows[1]], [3, 'test unit: pass: contradicted']);
});

test('Ctrl-C ends the tests as well, and nothing is said', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await claiming(workspace);
  const pid = join(workspace.base, 'pid');
  const verifying = start(workspace, [
    'verify',
    job.id,
    '--rerun',
    `sh -c "echo \\$\\$ >${pid}.new; mv ${pid}.new ${pid}; sleep 600"`,
  ]);
  const tests = await untilPid(pid);
  verifying.kill('SIGINT');
  const ended = await verifying.promise;
  assert.deepEqual([ended.signal, ended.stdout], ['SIGINT', '']);
  await eventually('the tests to be gone', () => !isAlive(tests));
});

test('what cannot be run is refused before anything: 1; a folder that is gone is unverifiable: 3', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await claiming(workspace);
  for (const [text, message] of [
    ['', /--rerun "": it names no program/],
    ['npm test && rm -rf x', /&& means something only to a shell/],
    ['[1]', /no array of texts/],
    ['no-such-program-here x', /is not on PATH/],
    ['./no-such-script', /no executable file.*the folder of the job/],
  ] as const) {
    const refused = await run(workspace, ['verify', job.id, '--rerun', text]);
    assert.deepEqual([refused.code, refused.stdout], [1, ''], text);
    assert.match(refused.stderr, message);
  }
  const timeout = await run(workspace, ['verify', job.id, '--rerun', 'true', '--rerun-timeout', '2h']);
  assert.deepEqual([timeout.code, timeout.stdout], [1, '']);
});

test('a program by name is never taken from the worktree, a script of it only by its path', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await claiming(workspace);
  writeFileSync(workspace.path('mine'), '#!/bin/sh\ntouch ran\n');
  chmodSync(workspace.path('mine'), 0o755);
  const env = { PATH: `.:${workspace.env.PATH}` };
  assert.equal((await run(workspace, ['verify', job.id, '--rerun', 'mine'], { env })).code, 1);
  assert.equal(existsSync(workspace.path('ran')), false);
  assert.equal((await verify(workspace, job.id, ['--rerun', './mine'], { env })).code, 0);
  assert.equal(existsSync(workspace.path('ran')), true);
});

test('tests that the caller asks for count also where no test is claimed, and are run also where there is no block', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await claiming(workspace, {});
  assert.equal((await verify(workspace, job.id, ['--rerun', 'true'])).code, 0);
  assert.equal((await verify(workspace, job.id, ['--rerun', 'false'])).code, 3);
  const staff = makeStaff(workspace);
  const mute = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', mute.id])).code, 0);
  const found = await verify(workspace, mute.id, ['--rerun', 'touch ran']);
  assert.deepEqual([found.code, found.reply.rerun?.passed, found.reply.error?.code], [3, true, 'unverifiable']);
  assert.equal(found.reply.block_error?.code, 'NO_BLOCK');
  assert.equal(existsSync(workspace.path('ran')), true);
  const page = await run(workspace, ['verify', mute.id, '--rerun', 'sh -c "echo broken; exit 7"']);
  assert.equal(page.code, 3);
  assert.match(page.stdout, /^--rerun did not pass: it ended with 7$/m);
  assert.match(page.stderr, /^broken$/m);
});

test('of a job whose record was changed nothing is run, and that is said', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await claiming(workspace);
  writeFileSync(job.path('spec.json'), job.text('spec.json').replace('"cwd"', '"label":"x","cwd"'));
  const { code, stdout } = await run(workspace, ['verify', job.id, '--rerun', 'touch ran']);
  assert.equal(code, 3);
  assert.match(stdout.replace(/\s+/g, ' '), /spec\.json was changed.*--rerun was not run/);
  assert.equal(existsSync(workspace.path('ran')), false);
});

test('the folder of a job in a subfolder that is gone: its tests are unverifiable', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('sub/keep', 'x');
  const staff = makeStaff(workspace);
  staff.act(claim(passing));
  const launched = await run(workspace, ['implement', '--profile', 'standard', '--prompt', 'x', '--id-only'], {
    cwd: workspace.path('sub'),
  });
  const id = launched.stdout.trim();
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  rmSync(workspace.path('sub'), { recursive: true });
  const found = await verify(workspace, id, ['--rerun', 'true']);
  assert.deepEqual([found.code, found.rows[1]], [3, 'test unit: pass: unverifiable']);
  assert.match(found.details[1] ?? '', /is gone/);
});
