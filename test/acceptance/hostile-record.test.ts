/**
 * What an agent may have written into our own state folder (contract 11): a changed spec, links and FIFOs in the place of
 * record files, programs in the repository's config, foreign processes named as a job's own. Nothing of it is run, followed,
 * signaled or waited for; reading goes on.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { builtFile, type RunResult, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Identity, isAlive, killByIdentity, readIdentity } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { launchWatch, untilTold } from '../helpers/watches.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

test('restart and continue refuse a spec that was changed, and run nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await launch(workspace, 'true');
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  const spec = jobFile(workspace, id, 'spec.json');
  const text = readFileSync(spec, 'utf8');
  const changes: [what: string, text: string][] = [
    ['another command', text.replace('"argv":["true"]', `"argv":["touch","${workspace.path('pwned')}"]`)],
    ['another program', text.replace(/"program":"[^"]*"/, '"program":"/bin/false"')],
    ['another folder', text.replace(/"cwd":"[^"]*"/, '"cwd":"/"')],
    ['no MAC', text.replace(/,"mac":"[^"]*"/, ',"mac":""')],
    ['a field more', text.replace('"schema":1', '"schema":1,"planted":true')],
  ];
  for (const [what, changed] of changes) {
    assert.notEqual(changed, text, what);
    writeFileSync(spec, changed);
    const before = readdirSync(workspace.path('.job-state/jobs'));
    const again = await run(workspace, ['restart', id]);
    assert.deepEqual([what, again.code, again.stdout], [what, 1, '']);
    assert.match(again.stderr, /its spec.json was changed/, what);
    const onward = await run(workspace, ['continue', '--job', id, '--prompt', 'x']);
    assert.deepEqual([what, onward.code, onward.stdout], [what, 1, '']);
    assert.match(onward.stderr, /its spec.json was changed/, what);
    assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), before, what);
    assert.equal((await run(workspace, ['wait', id])).code, 0, what);
  }
  assert.equal(existsSync(workspace.path('pwned')), false);
  writeFileSync(spec, text);
  assert.equal((await run(workspace, ['restart', id, '--wait'])).code, 0);
});

test('a replacement worker refuses a spec that was changed: nothing is started, attached or signaled', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await launch(workspace, 'sleep', '600');
  const worker = await runningWorker(workspace, id);
  const child = identityIn(jobFile(workspace, id, 'worker.json'), 'child');
  await kill(worker);
  const spec = jobFile(workspace, id, 'spec.json');
  const text = readFileSync(spec, 'utf8');
  writeFileSync(spec, text.replace('"sleep","600"', '"sleep","601"'));
  const launched = readFileSync(jobFile(workspace, id, 'launch.json'), 'utf8');

  // It waits long for an answer: enough that it has asked.
  const canceling = start(workspace, ['cancel', id]);
  await eventually('the request', () => existsSync(jobFile(workspace, id, 'cancel.json')));
  for (const args of [
    ['wait', id, '--timeout', '300ms'],
    ['status', id],
    ['observe', id],
    ['result', id],
  ]) {
    assert.equal((await run(workspace, args)).code, 2, args[0]);
  }
  const doctor = await run(workspace, ['doctor', id]);
  assert.equal(doctor.code, 3);
  assert.match(doctor.stdout, /spec.json was changed/);
  // Not even the hidden verb of a worker itself takes it.
  const env = { ...workspace.env };
  assert.throws(() =>
    execFileSync(testNode(), [builtFile, '_worker', workspace.path('.job-state'), id], { env, stdio: 'pipe' }),
  );
  assert.ok(canceling.kill(), 'cancel claims to know the end');
  await canceling.promise;
  assert.ok(isAlive(child), 'the child was signaled');
  assert.equal(readFileSync(jobFile(workspace, id, 'launch.json'), 'utf8'), launched);

  // With the genuine spec the stored request is answered.
  writeFileSync(spec, text);
  assert.equal((await run(workspace, ['wait', id])).code, 4);
  assert.equal(isAlive(child), false);
});

test('a watch whose spec was changed and whose worker is gone is damaged, within its bound and after it', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'pn7', '--for', '1h']);
  await untilTold(job);
  await kill(job.identity('worker'));
  const spec = job.path('spec.json');
  const [text, state] = [spec, job.path('state.json')].map((file) => readFileSync(file, 'utf8'));
  const forged = text?.replaceAll('pn7', 'pn8') ?? '';
  for (const [what, changed] of [
    ['within', forged],
    [
      'after',
      forged
        .replace(/"created_at":"20../, '"created_at":"2001')
        .replace(/"deadline_mono_ms":\d+/, '"deadline_mono_ms":1'),
    ],
  ] as const) {
    writeFileSync(spec, changed);
    for (const args of [
      ['wait', job.id, '--timeout', '2s'],
      ['status', job.id],
      ['cancel', job.id],
    ]) {
      const { code, stdout, stderr } = await run(workspace, args);
      const expected = args[0] === 'cancel' ? 1 : 3;
      assert.equal(code, expected, `${what}: ${args[0]}: ${stdout}${stderr}`);
    }
    assert.match((await run(workspace, ['result', job.id])).stdout, /state_damaged/);
    // The word of a reader; and another's key decides nothing.
    assert.equal(readFileSync(job.path('state.json'), 'utf8'), state);
    const nokey = { HOME: workspace.path('nohome'), XDG_CONFIG_HOME: workspace.path('nohome') };
    assert.equal((await run(workspace, ['status', job.id], { env: nokey })).code, 2);
  }
  writeFileSync(spec, text ?? '');
  workspace.write('pn7', 'x');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('a run whose spec was changed and of which nothing lives is damaged', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await launch(workspace, 'sleep', '600');
  const worker = await runningWorker(workspace, id);
  const child = identityIn(jobFile(workspace, id, 'worker.json'), 'child');
  const shim = identityIn(jobFile(workspace, id, 'worker.json'), 'shim');
  await kill(worker);
  // With its guard, which is in its group.
  process.kill(-shim.pid, 'SIGKILL');
  for (const one of [shim, child]) await kill(one);
  const spec = jobFile(workspace, id, 'spec.json');
  writeFileSync(spec, readFileSync(spec, 'utf8').replace('"sleep","600"', '"sleep","601"'));
  for (const args of [
    ['wait', id, '--timeout', '2s'],
    ['status', id],
    ['result', id],
  ])
    assert.equal((await run(workspace, args)).code, 3, args[0]);
});

test('a custom program in the config of the repository is never run', async (t) => {
  const workspace = makeWorkspace(t);
  await finished(workspace, 'true');
  const planted = { backends: { evil: { argv: ['touch', workspace.path('pwned')] } }, default_backend: 'evil' };
  writeFileSync(workspace.path('.job-state/config.json'), JSON.stringify(planted));
  const before = readdirSync(workspace.path('.job-state/jobs'));
  const env = { PATH: '/nowhere' };
  for (const args of [['--backend', 'evil'], []]) {
    const refused = await run(workspace, ['ask', '--prompt', 'x', ...args], { env });
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(
      refused.stderr,
      /^job-companion: cannot use the config of the state folder .*config\.json: "backends" is not known here/,
    );
  }
  // What may stand there can name no program either.
  writeFileSync(workspace.path('.job-state/config.json'), JSON.stringify({ default_backend: { ask: 'evil' } }));
  const refused = await run(workspace, ['ask', '--prompt', 'x'], { env });
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /backend "evil" is not known/);
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), before);
  assert.equal(existsSync(workspace.path('pwned')), false);
});

test("the user's own config counts only when nobody else may write it", async (t) => {
  const workspace = makeWorkspace(t);
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder);
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ backends: { mine: { argv: ['cat'] } } }));
  const args = ['staffer', '--backend', 'mine', '--prompt', 'x', '--wait'];
  assert.equal((await run(workspace, args)).stdout, 'x');
  chmodSync(file, 0o666);
  const refused = await run(workspace, args);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /cannot use the config \S*config.json: others own it or may write it/);
});

const secret = 'the secret of another file';

test('links in the place of record files are not followed by any reader', async (t) => {
  const workspace = makeWorkspace(t);
  const done = await finished(workspace, 'echo', 'fine');
  const forged = readFileSync(jobFile(workspace, done, 'state.json'), 'utf8');
  const elsewhere = join(workspace.base, 'elsewhere');
  const faults: string[] = [];
  for (const name of [
    'state.json',
    'result.md',
    'result.json',
    'output.log',
    'error.log',
    'events.ndjson',
    'spec.json',
  ]) {
    const id = await launch(workspace, 'sh', '-c', 'echo bad >&2; exit 7');
    assert.equal((await run(workspace, ['wait', id])).code, 3);
    const file = jobFile(workspace, id, name);
    const content = name.endsWith('.json') ? forged.replaceAll(done, id).replace('{', `{"x":"${secret}",`) : secret;
    writeFileSync(elsewhere, content);
    rmSync(file);
    symlinkSync(elsewhere, file);
    for (const [what, { code, stdout, stderr }] of await readAll(workspace, id)) {
      if (code !== 3) faults.push(`${name}: ${what} is ${code}: ${stderr}`);
      if ((stdout + stderr).includes(secret)) faults.push(`${name}: ${what} tells the secret`);
    }
    assert.equal(readFileSync(elsewhere, 'utf8'), content, name);
  }
  assert.deepEqual(faults, []);
});

test('a link in the place of the output of a running job is not followed', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  const id = await launch(workspace, 'sh', '-c', 'echo begun; until [ -e "$0" ]; do sleep 0.05; done', release);
  await runningWorker(workspace, id);
  const elsewhere = workspace.write('elsewhere', secret);
  const output = jobFile(workspace, id, 'output.log');
  rmSync(output);
  symlinkSync(elsewhere, output);
  for (const [what, { code, stdout, stderr }] of await readAll(workspace, id)) {
    assert.equal(code, 2, `${what}: ${stderr}`);
    assert.doesNotMatch(stdout + stderr, new RegExp(secret), what);
  }
  writeFileSync(release, '');
  const { code, stdout } = await run(workspace, ['wait', id]);
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, new RegExp(secret));
  assert.equal(readFileSync(elsewhere, 'utf8'), secret);
});

test('a job folder that is a link is no job, and nothing is written behind it', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace, 'echo', secret);
  const elsewhere = join(workspace.base, 'elsewhere');
  renameSync(workspace.path('.job-state/jobs', id), elsewhere);
  rmSync(join(elsewhere, 'collected.json'));
  symlinkSync(elsewhere, workspace.path('.job-state/jobs', id));
  const before = readdirSync(elsewhere, { recursive: true }).sort();
  for (const [what, { code, stdout }] of await readAll(workspace, id)) {
    assert.ok(code === 1 || code === 3, `${what}: ${code}`);
    assert.doesNotMatch(stdout, new RegExp(secret), what);
  }
  assert.equal((await run(workspace, ['clean', '--older-than', '0s', '--yes'])).code, 0);
  assert.deepEqual(readdirSync(elsewhere, { recursive: true }).sort(), before);
});

test('a link in the place of waiters/ receives no file of ours', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  const id = await launch(workspace, 'sh', '-c', 'until [ -e "$0" ]; do sleep 0.05; done', release);
  const elsewhere = join(workspace.base, 'elsewhere');
  mkdirSync(elsewhere);
  rmSync(jobFile(workspace, id, 'waiters'), { recursive: true });
  symlinkSync(elsewhere, jobFile(workspace, id, 'waiters'));
  const waiting = start(workspace, ['wait', id, '--heartbeat', '1s']);
  await eventually('a heartbeat', () => waiting.stderr().includes(id));
  const seen = readdirSync(elsewhere);
  writeFileSync(release, '');
  assert.equal((await waiting.promise).code, 0);
  assert.deepEqual(seen, []);
});

test('a FIFO in the place of a record file stops no reader', async (t) => {
  const workspace = makeWorkspace(t);
  const files = ['state.json', 'spec.json', 'worker.json', 'launch.json', 'exit.json', 'cancel.json'];
  files.push('events.ndjson', 'output.log', 'result.md', 'result.json', 'collected.json');
  const faults: string[] = [];
  for (const name of files) {
    const id = await finished(workspace, 'echo', 'fine');
    const file = jobFile(workspace, id, name);
    rmSync(file, { force: true });
    execFileSync('mkfifo', [file]);
    const seen = await readAll(workspace, id);
    const codes = new Set(seen.map(([, { code }]) => code));
    // One answer whoever asks: as it was, or damaged.
    if (codes.size !== 1 || !(codes.has(0) || codes.has(3))) faults.push(`${name}: ${[...codes]}`);
  }
  assert.deepEqual(faults, []);
  for (const args of [['status'], ['doctor'], ['clean', '--older-than', '0s']]) {
    const { code } = await run(workspace, args, { limitMs: 15_000 });
    assert.ok(code === 0 || code === 3, `${args[0]}: ${code}`);
  }
  assert.equal((await run(workspace, ['run', '--wait', '--', 'echo', 'next'], { limitMs: 15_000 })).stdout, 'next\n');
});

for (const role of ['child', 'shim', 'worker'] as const) {
  test(`a stranger's living process that is named as the ${role} of a lost job is never signaled`, async (t) => {
    const workspace = makeWorkspace(t);
    const id = await launch(workspace, 'sleep', '600');
    const worker = await runningWorker(workspace, id);
    const record = JSON.parse(readFileSync(jobFile(workspace, id, 'worker.json'), 'utf8'));
    const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    workspace.defer(() => stranger.kill('SIGKILL'));
    const identity = readIdentity(stranger.pid ?? 0);
    assert.ok(identity, 'the stranger lives');
    const planted = { ...record.worker, pid: identity.pid, start_token: identity.startTime };
    for (const one of [worker, identityOf(record.shim), identityOf(record.child)]) await kill(one);
    writeFileSync(jobFile(workspace, id, 'worker.json'), JSON.stringify({ ...record, [role]: planted }));
    for (const args of [['status'], ['observe', id], ['wait', id, '--timeout', '1s'], ['clean', '--yes']]) {
      await run(workspace, args);
      assert.ok(isAlive(identity), `${args[0]} ended the stranger`);
    }
    // cancel may wait long for a worker that does not answer: it is enough that it began to.
    const canceling = start(workspace, ['cancel', id]);
    await eventually(
      'the request, or an end',
      () => existsSync(jobFile(workspace, id, 'cancel.json')) || canceling.child.exitCode !== null,
    );
    const after = await run(workspace, ['wait', id, '--timeout', '1s']);
    canceling.kill();
    await canceling.promise;
    assert.ok(isAlive(identity), `${after.code}: cancel ended the stranger`);
    writeFileSync(jobFile(workspace, id, 'worker.json'), JSON.stringify(record));
    assert.equal((await run(workspace, ['wait', id])).code, role === 'worker' ? 4 : after.code);
  });
}

test('a damaged or foreign once-key file is refused and starts nothing', async (t) => {
  const workspace = makeWorkspace(t);
  const args = ['run', '--once-key', 'k', '--', 'touch', 'ran'];
  await finished(workspace, 'true');
  rmSync(workspace.path('ran'), { force: true });
  assert.equal((await run(workspace, ['run', '--wait', '--once-key', 'k', '--', 'true'])).code, 0);
  const [name = ''] = readdirSync(workspace.path('.job-state/once'));
  const file = workspace.path('.job-state/once', name);
  const good = JSON.parse(readFileSync(file, 'utf8'));
  for (const text of ['', '{', '[]', '{"id":1}', JSON.stringify({ ...good, id: '../../../x' })]) {
    writeFileSync(file, text);
    const refused = await run(workspace, args);
    assert.deepEqual([text, refused.code, refused.stdout], [text, 1, '']);
    assert.match(refused.stderr, /^job-companion: cannot [^\n]*once-key[^\n]*\n(try: [^\n]+\n)?$/);
  }
  assert.equal(existsSync(workspace.path('ran')), false);
});

/** What each reader says of the job. */
async function readAll(workspace: Workspace, id: string): Promise<[string, RunResult][]> {
  const lines = [
    ['wait', id, '--timeout', '1s'],
    ['observe', id],
    ['status', id],
    ['result', id],
    ['result', id, '--json'],
  ];
  const seen: [string, RunResult][] = [];
  for (const args of lines) seen.push([args.join(' '), await run(workspace, args, { limitMs: 15_000 })]);
  return seen;
}

async function launch(workspace: Workspace, ...command: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, ['run', '--kill-after', '0s', '--id-only', '--', ...command]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

async function finished(workspace: Workspace, ...command: string[]): Promise<string> {
  const id = await launch(workspace, ...command);
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  return id;
}

function jobFile(workspace: Workspace, id: string, name: string): string {
  return workspace.path('.job-state/jobs', id, name);
}

/** The worker of a job whose child runs. */
function runningWorker(workspace: Workspace, id: string): Promise<Identity> {
  return eventually('the job to run', () => {
    const { state } = JSON.parse(readFileSync(jobFile(workspace, id, 'state.json'), 'utf8'));
    return state === 'running' && identityIn(jobFile(workspace, id, 'worker.json'), 'worker');
  });
}

function identityIn(file: string, role: string): Identity {
  return identityOf(JSON.parse(readFileSync(file, 'utf8'))[role]);
}

function identityOf(record: { pid: number; start_token: string }): Identity {
  return { pid: record.pid, startTime: record.start_token };
}

async function kill(process: Identity): Promise<void> {
  killByIdentity(process);
  await eventually('the killed process to be gone', () => !isAlive(process));
}
