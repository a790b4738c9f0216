/**
 * Looking and collecting (contract 5): observe is one bounded document in every state and its cursor misses nothing, the four
 * readers agree on one exit code, ids may be shortened by readers only, "latest" is the caller's own, and jobs are found from
 * any folder by commands that can be pasted into a shell.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, type RunOptions, type RunResult, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Observed {
  id: string;
  state: string;
  supervision: string;
  error: { code: string } | null;
  events: { seq: number; type: string }[];
  next_seq: number;
  more: boolean;
  next: Record<string, string>;
  progress?: { text: string; text_truncated: boolean };
}

const noisy =
  'printf "\\033[31mred\\033[0m \\033]0;title\\007 \\302\\233 31m \\r\\n"; head -c 300000 /dev/zero | tr "\\0" "\\""';

test('observe is one JSON document of at most 8 KiB in every state, and the four readers agree on the code', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  workspace.defer(() => writeFileSync(release, ''));
  const hold = `until [ -e '${release}' ]; do sleep 0.05; done`;
  const label = '"\\\u001b[31m\u009b31m\u0000'.replace('\0', '') + 'ü'.repeat(3_000);
  const noise = ['run', '--label', label, '--id-only', '--kill-after', '30s'];

  const running = await launch(workspace, [...noise, '--', 'sh', '-c', `${noisy}; ${hold}`]);
  await eventually('the noise', async () => (await look(workspace, running)).progress?.text.endsWith('"""'));
  await assertOneAnswer(workspace, running, 'running', 2);

  const stopping = await launch(workspace, [...noise, '--', 'sh', '-c', `trap '' TERM; ${noisy}; ${hold}`]);
  await eventually('the trap', async () => (await look(workspace, stopping)).progress?.text.endsWith('"""'));
  const canceling = start(workspace, ['cancel', stopping, '--why', 'enough']);
  await eventually('the stop', async () => (await look(workspace, stopping)).state === 'stopping');
  await assertOneAnswer(workspace, stopping, 'stopping', 2);

  const starting = await launchWithoutWorker(workspace);
  assert.equal((await look(workspace, starting)).state, 'starting');
  await assertOneAnswer(workspace, starting, 'starting', 2);

  const done = await launch(workspace, [...noise, '--', 'sh', '-c', noisy]);
  await end(workspace, done);
  await assertOneAnswer(workspace, done, 'done', 0);
  const failed = await launch(workspace, [...noise, '--', 'sh', '-c', `${noisy}; ${noisy} >&2; exit 9`]);
  await end(workspace, failed);
  await assertOneAnswer(workspace, failed, 'failed', 3);
  const timedOut = await launch(workspace, [...noise, '--timeout', '100ms', '--', 'sleep', '600']);
  await end(workspace, timedOut);
  await assertOneAnswer(workspace, timedOut, 'timed_out', 3);
  writeFileSync(release, '');
  assert.equal((await canceling.promise).code, 0);
  await assertOneAnswer(workspace, stopping, 'canceled', 4);
  await end(workspace, running);
  await assertOneAnswer(workspace, running, 'done', 0);
});

test('observe keeps its bound whatever the caller writes into owner and state folder', async (t) => {
  const workspace = makeWorkspace(t);
  const owner = `"\u001b[31m${'\\"ü'.repeat(8_000)}`;
  const deep = join(workspace.base, 'long "name'.repeat(20), "it's $long".repeat(22));
  mkdirSync(deep, { recursive: true });
  const options = { env: { JOB_STATE_DIR: join(deep, 'state'.repeat(40)) } };
  for (const command of [['true'], ['false']]) {
    const launched = await run(workspace, ['run', '--id-only', '--owner', owner, '--', ...command], options);
    assert.equal(launched.code, 0, launched.stderr);
    const id = launched.stdout.trim();
    await run(workspace, ['wait', id], options);
    const observed = await run(workspace, ['observe', id], options);
    assert.equal(parseReply<Observed>(observed).id, id);
    assert.ok(observed.stdoutBytes.length <= 8192, `${observed.stdoutBytes.length} bytes`);
  }
});

test('status, observe and their JSON hold no control sequence, whoever wrote it; result is verbatim on a pipe', async (t) => {
  const workspace = makeWorkspace(t);
  const evil = 'a\u001b[2Jb\u009b31mc\u001b]0;t\u0007d';
  const args = ['run', '--id-only', '--label', evil, '--owner', evil, '--', 'printf', '%s\\n', evil];
  const id = await launch(workspace, args);
  const waited = await run(workspace, ['wait', id]);
  assert.equal(waited.stdout, `${evil}\n`);
  for (const line of [
    ['status'],
    ['status', id],
    ['status', '--json'],
    ['observe', id],
    ['observe', id, '--after-seq', '0'],
  ]) {
    const { stdout } = await run(workspace, line);
    assert.ok(stdout.includes(id));
    const text = line[0] === 'observe' || line.includes('--json') ? JSON.stringify(JSON.parse(stdout, plain)) : stdout;
    const holdsControl = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\\u00[019]/.test(text + stdout);
    assert.equal(holdsControl, false, `${line.join(' ')}: ${JSON.stringify(stdout).slice(0, 600)}`);
  }
});

test('the reason of a cancel comes out of observe bounded and without control characters', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await launch(workspace, ['run', '--id-only', '--kill-after', '0s', '--', 'sleep', '600']);
  const why = `\u001b[31m\u009b31m${'why '.repeat(100)}`;
  assert.equal((await run(workspace, ['cancel', id, '--why', why, '--owner', why])).code, 0);
  await assertOneAnswer(workspace, id, 'canceled', 4);
  const all = await run(workspace, ['observe', id, '--after-seq', '0']);
  assert.ok(all.stdoutBytes.length <= 8192);
  assert.equal(/\\u00[019]|[\u007f-\u009f]/.test(all.stdout), false);
});

test("observe's cursor gives every event once, in pages of at most 8 KiB, also events that are too large", async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace);
  const lines: string[] = [];
  for (let seq = 1; seq <= 240; seq += 1) {
    const text = 'x'.repeat(seq % 40 === 0 ? 60_000 : seq * 7);
    lines.push(JSON.stringify({ seq, at: '2026-01-01T00:00:00.000Z', job: id, owner: null, type: 'tool', text }));
  }
  writeFileSync(workspace.path('.job-state/jobs', id, 'events.ndjson'), `${lines.join('\n')}\n`);
  const seen: number[] = [];
  for (let after = 0, more = true; more; ) {
    const reply = await run(workspace, ['observe', id, '--after-seq', String(after)]);
    assert.ok(reply.stdoutBytes.length <= 8192);
    const page = parseReply<Observed>(reply);
    assert.ok(page.next_seq > after, `no step from ${after}`);
    seen.push(...page.events.map(({ seq }) => seq));
    ({ next_seq: after, more } = page);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 240 }, (_, at) => at + 1),
  );
  const last = parseReply<Observed>(await run(workspace, ['observe', id, '--after-seq', '240']));
  assert.deepEqual([last.events, last.next_seq, last.more], [[], 240, false]);
});

test('a cursor that is taken while the job runs shows only what comes later', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  const id = await launch(workspace, [
    'run',
    '--id-only',
    '--',
    'sh',
    '-c',
    `until [ -e ${release} ]; do sleep 0.05; done`,
  ]);
  await eventually('the job to run', async () => (await look(workspace, id)).state === 'running');
  const first = parseReply<Observed>(await run(workspace, ['observe', id, '--after-seq', '0']));
  assert.deepEqual(
    first.events.map(({ type }) => type),
    ['claimed', 'started'],
  );
  const cursor = ['--after-seq', String(first.next_seq)];
  assert.deepEqual(parseReply<Observed>(await run(workspace, ['observe', id, ...cursor])).events, []);
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  const later = parseReply<Observed>(await run(workspace, ['observe', id, ...cursor]));
  assert.deepEqual(
    later.events.map(({ seq, type }) => [seq, type]),
    [[first.next_seq + 1, 'ended']],
  );
});

test('whoever polls state.json while jobs run reads a whole document each time', async (t) => {
  const workspace = makeWorkspace(t);
  let reads = 0;
  const states = new Set<string>();
  for (let round = 0; round < 8; round += 1) {
    const id = await launch(workspace, ['run', '--id-only', '--', 'true']);
    const file = workspace.path('.job-state/jobs', id, 'state.json');
    await eventually(
      'the end',
      async () => {
        for (let burst = 0; burst < 200; burst += 1) {
          if (!existsSync(file)) continue;
          reads += 1;
          const state = JSON.parse(readFileSync(file, 'utf8'));
          states.add(state.state);
          if (state.state === 'done') return true;
        }
        return false;
      },
      { everyMs: 1 },
    );
  }
  assert.ok(reads > 100 && states.size > 1, `${reads} reads, ${[...states]}`);
});

test('status with 300 finished jobs shows the live ones and the newest ten, or as many as asked for', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  workspace.defer(() => writeFileSync(release, ''));
  // The oldest of all, and still to be seen.
  const live = await launch(workspace, [
    'run',
    '--id-only',
    '--',
    'sh',
    '-c',
    `until [ -e ${release} ]; do sleep 0.05; done`,
  ]);
  const copies = makeCopies(workspace, await finished(workspace), 320);
  const rows = parseReply<{ jobs: { id: string; state: string }[] }>(await run(workspace, ['status', '--json'])).jobs;
  assert.deepEqual(
    rows.map(({ id }) => id),
    [live, ...copies.slice(-10).reverse()],
  );
  const all = parseReply<{ jobs: unknown[] }>(await run(workspace, ['status', '--json', '--recent', '400'])).jobs;
  assert.equal(all.length, 322);
  const table = await run(workspace, ['status', '--recent', '0']);
  assert.deepEqual(table.stdout.trimEnd().split('\n').length, 2);
  assert.match(table.stdout, new RegExp(`${live} +running`));
  assert.equal((await look(workspace)).id, copies.at(-1));
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', live])).code, 0);
});

test('readers take a unique beginning of an id; what changes something takes only the whole one', async (t) => {
  const workspace = makeWorkspace(t);
  const [first, second] = [await finished(workspace, 'one'), await finished(workspace, 'two')];
  const shared = second.slice(
    0,
    [...second].findIndex((char, at) => char !== first[at]),
  );
  const short = second.slice(0, shared.length + 1);
  for (const verb of ['wait', 'observe', 'status', 'result']) {
    const unique = await run(workspace, [verb, short]);
    assert.equal(unique.code, 0, `${verb}: ${unique.stderr}`);
    assert.ok((unique.stdout + unique.stderr).includes(second), verb);
    for (const text of [shared, 'run', 'run-']) {
      const ambiguous = await run(workspace, [verb, text]);
      assert.deepEqual([ambiguous.code, ambiguous.stdout], [1, ''], verb);
      assert.match(
        ambiguous.stderr,
        new RegExp(`which job ${text} is: 2 jobs begin so, the newest are ${first}, ${second}`),
      );
    }
  }
  for (const args of [
    ['cancel', short],
    ['restart', short],
    ['continue', '--prompt', 'x', '--job', short],
  ]) {
    const refused = await run(workspace, args);
    assert.deepEqual([refused.code, refused.stdout], [1, ''], args[0]);
    assert.match(refused.stderr, new RegExp(`the short id ${short}: .*whole id\ntry: .*${second}`), args[0]);
  }
  assert.equal(readdirSync(workspace.path('.job-state/jobs')).length, 2);
});

test('latest is the latest of the owner that --owner or JOB_OWNER names, else of the worktree', async (t) => {
  const workspace = makeWorkspace(t);
  const own = async (owner: string | undefined, ...args: string[]) =>
    run(workspace, args, { env: { JOB_OWNER: owner } });
  const a = (await own('a', 'run', '--id-only', '--', 'echo', 'of a')).stdout.trim();
  await end(workspace, a);
  const b = (await own(undefined, 'run', '--id-only', '--owner', 'b', '--', 'echo', 'of b')).stdout.trim();
  await end(workspace, b);
  for (const verb of ['wait', 'result']) {
    assert.equal((await own('a', verb)).stdout, 'of a\n');
    assert.equal((await own('b', verb)).stdout, 'of b\n');
    assert.equal((await own('a', verb, '--owner', 'b')).stdout, 'of b\n');
    assert.equal((await own(undefined, verb)).stdout, 'of b\n');
    const none = await own('c', verb);
    assert.deepEqual([none.code, none.stdout], [1, '']);
    assert.match(none.stderr, /cannot find .* of owner c in the state folder \//);
    assert.equal((await own('c', verb, a)).stdout, 'of a\n');
  }
  assert.equal(parseReply<Observed>(await own('a', 'observe')).id, a);
  const ofA = parseReply<{ jobs: { id: string }[] }>(await own(undefined, 'status', '--json', '--owner', 'a'));
  assert.deepEqual(
    ofA.jobs.map(({ id }) => id),
    [a],
  );
  // Whoever lost the id finds it: without --owner, status shows everybody's.
  const everybody = parseReply<{ jobs: { id: string; owner: string }[] }>(await own('a', 'status', '--json'));
  assert.deepEqual(
    everybody.jobs.map(({ id, owner }) => [id, owner]),
    [
      [b, 'b'],
      [a, 'a'],
    ],
  );
});

test('result without an id is the latest finished job, and says 2 for one that runs', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace, 'finished');
  const release = workspace.path('release');
  const live = await launch(workspace, [
    'run',
    '--id-only',
    '--',
    'sh',
    '-c',
    `until [ -e ${release} ]; do sleep 0.05; done`,
  ]);
  assert.equal((await run(workspace, ['result'])).stdout, 'finished\n');
  const early = await run(workspace, ['result', live]);
  assert.deepEqual([early.code, early.stdout], [2, '']);
  assert.match(early.stderr, new RegExp(`there is no result yet.*\n.* wait ${live} `));
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait'])).code, 0);
  const record = parseReply(await run(workspace, ['result', id, '--json']));
  const { state, exit_code, signal, error, kind, verb, cwd, result_path, output_path, duration_ms } = record;
  assert.deepEqual(
    [state, exit_code, signal, error, kind, verb, cwd],
    ['done', 0, null, null, 'run', 'run', workspace.dir],
  );
  assert.equal(readFileSync(String(result_path), 'utf8'), 'finished\n');
  assert.equal(readFileSync(String(output_path), 'utf8'), 'finished\n');
  assert.ok(Number.isInteger(duration_ms));
});

test('one of several jobs: --any gives the first that ended, --all the worst, and the wait that expired 2', async (t) => {
  const workspace = makeWorkspace(t);
  const release = workspace.path('release');
  workspace.defer(() => writeFileSync(release, ''));
  const done = await finished(workspace);
  const failed = await launch(workspace, ['run', '--id-only', '--', 'false']);
  const live = await launch(workspace, [
    'run',
    '--id-only',
    '--',
    'sh',
    '-c',
    `until [ -e ${release} ]; do sleep 0.05; done`,
  ]);
  await end(workspace, failed);
  const codeOf = async (...args: string[]) => (await run(workspace, ['wait', ...args])).code;
  assert.equal(await codeOf(live, done, '--any'), 0);
  assert.equal(await codeOf(live, failed, '--any'), 3);
  assert.equal(await codeOf(done, failed, '--all'), 3);
  assert.equal(await codeOf(done, live, '--all', '--timeout', '100ms'), 2);
  assert.equal(await codeOf(live, '--timeout', '0s'), 2);
  assert.equal(await codeOf(done, live), 1);
  assert.equal((await run(workspace, ['cancel', live])).code, 0);
  assert.equal(await codeOf(done, live, '--all'), 4);
  assert.equal(await codeOf(done, live, failed, '--all'), 3);
  assert.equal(await codeOf(done, done), 0);
});

test('a job is found from a subfolder, and from anywhere by --state-dir and JOB_STATE_DIR', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('deep/er'), { recursive: true });
  const cwd = workspace.path('deep/er');
  const launched = await run(workspace, ['run', '--id-only', '--', 'pwd'], { cwd });
  const id = launched.stdout.trim();
  assert.equal((await run(workspace, ['wait', id])).stdout, `${cwd}\n`);
  assert.ok(!existsSync(join(cwd, '.job-state')) && existsSync(workspace.path('.job-state/jobs', id)));
  assert.equal((await run(workspace, ['wait', id], { cwd })).stdout, `${cwd}\n`);

  const state = workspace.path('.job-state');
  const outside = { cwd: workspace.base };
  assert.equal((await run(workspace, ['result', id, '--state-dir', state], outside)).stdout, `${cwd}\n`);
  assert.equal((await run(workspace, ['result', '--state-dir', 'work/.job-state'], outside)).stdout, `${cwd}\n`);
  const env = { JOB_STATE_DIR: 'work/.job-state' };
  assert.equal((await run(workspace, ['result', id], { ...outside, env })).stdout, `${cwd}\n`);
  const lost = await run(workspace, ['wait', id], outside);
  assert.equal(lost.code, 1);
  const words = `cannot find job ${id}: there is no state folder ${workspace.base}/.job-state\ntry: .*--state-dir DIR`;
  assert.match(lost.stderr, new RegExp(words));
  assert.equal(existsSync(join(workspace.base, '.job-state')), false);
});

test('every command that is printed works when it is pasted into a shell elsewhere, whatever the folder is called', async (t) => {
  const workspace = makeWorkspace(t);
  const folder = join(workspace.base, `it's a "state" $(touch pwned) \`touch pwned\` \\ ; & ü -x`);
  const options: RunOptions = { env: { JOB_STATE_DIR: folder } };
  const paste = (command: string) => shell(workspace, command);

  const document = await run(workspace, ['run', '--json', '--', 'sh', '-c', 'echo out; exit 3'], options);
  const { id, next } = parseReply<{ id: string; next: Record<string, string> }>(document);
  assert.equal(paste(next.wait ?? '').code, 3);
  assert.equal(JSON.parse(paste(next.observe ?? '').stdout).id, id);
  assert.match(paste(next.cancel ?? '').stderr, new RegExp(`cannot cancel job ${id}: it ended as failed`));

  const text = (await run(workspace, ['run', '--', 'echo', 'hi'], options)).stdout;
  assert.equal(paste(/^collect: (.*)$/m.exec(text)?.[1] ?? '').stdout, 'hi\n');
  assert.equal(JSON.parse(paste(/^observe: (.*)$/m.exec(text)?.[1] ?? '').stdout).state, 'done');

  const observed = parseReply<Observed>(await run(workspace, ['observe', id], options));
  assert.equal(paste(observed.next.result ?? '').code, 3);
  const again = paste(observed.next.restart ?? '');
  assert.match(again.stdout, /^job run-/);
  const report = (await run(workspace, ['result', id], options)).stdout;
  const recovery = /^Start the same once more: (.*)$/m.exec(report)?.[1];
  assert.match(paste(recovery ?? '').stdout, /^job run-/);

  const expired = await run(workspace, ['run', '--wait', '--wait-timeout', '0s', '--', 'sleep', '0.2'], options);
  assert.equal(expired.code, 2);
  assert.equal(paste(expired.stdout.trimEnd().split('\n').at(-1) ?? '').code, 0);
  const clean = (await run(workspace, ['clean', '--older-than', '0s'], options)).stdout.trimEnd().split('\n').at(-1);
  assert.match(paste(clean ?? '').stdout, /removed/);
  const unknown = (await run(workspace, ['wait', 'run-zzzzzzzz-zzzzzz', '--state-dir', folder])).stderr;
  assert.equal(existsSync(join(workspace.base, 'pwned')) || existsSync(workspace.path('pwned')), false);
  assert.match(unknown, /cannot find job run-zzzzzzzz-zzzzzz/);
  // Whatever was started by pasting has to end before the folder goes.
  const { jobs } = parseReply<{ jobs: { id: string }[] }>(await run(workspace, ['status', '--json'], options));
  for (const job of jobs) await run(workspace, ['wait', job.id], options);
});

/** `wait`, `observe`, `status ID` and `result` of one job: the state, and one code. */
async function assertOneAnswer(workspace: Workspace, id: string, state: string, code: number): Promise<void> {
  const observed = await run(workspace, ['observe', id]);
  assert.ok(observed.stdoutBytes.length <= 8192, `${state}: ${observed.stdoutBytes.length} bytes`);
  assert.equal(observed.stdout.trimEnd().split('\n').length, 1);
  const document = parseReply<Observed>(observed);
  assert.deepEqual([document.id, document.state, observed.code], [id, state, code]);
  assert.equal(/\\u00[019]|[\u007f-\u009f]/.test(observed.stdout), false, `${state}: it holds control characters`);
  assert.ok(JSON.stringify(document.progress?.text ?? '').length > 0 && (code === 2) === Boolean(document.progress));
  for (const args of [
    ['wait', id, '--timeout', '0s'],
    ['status', id],
    ['result', id],
  ]) {
    assert.equal((await run(workspace, args)).code, code, `${args[0]} while ${state}`);
  }
}

async function look(workspace: Workspace, ...id: string[]): Promise<Observed> {
  return parseReply<Observed>(await run(workspace, ['observe', ...id]));
}

async function end(workspace: Workspace, id: string): Promise<RunResult> {
  const waited = await run(workspace, ['wait', id]);
  assert.notEqual(waited.code, 1, waited.stderr);
  return waited;
}

async function launch(workspace: Workspace, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, args);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

async function finished(workspace: Workspace, word = 'fine'): Promise<string> {
  const id = await launch(workspace, ['run', '--id-only', '--', 'echo', word]);
  assert.equal((await end(workspace, id)).stdout, `${word}\n`);
  return id;
}

/** A job whose launcher dies before it starts a worker: for some seconds it is `starting`. */
async function launchWithoutWorker(workspace: Workspace): Promise<string> {
  const crash = join(workspace.base, 'crash.cjs');
  writeFileSync(crash, "require('node:child_process').spawn = () => process.kill(process.pid, 'SIGKILL');");
  const before = new Set(readdirSync(workspace.path('.job-state/jobs')));
  const dead = await run(workspace, ['run', '--', 'true'], { nodeOptions: ['--require', crash] });
  assert.equal(dead.signal, 'SIGKILL');
  const made = readdirSync(workspace.path('.job-state/jobs')).filter((id) => !before.has(id));
  assert.equal(made.length, 1);
  return made[0]!;
}

/** So many finished records, each a millisecond younger than the one before. */
function makeCopies(workspace: Workspace, id: string, count: number): string[] {
  const jobs = workspace.path('.job-state/jobs');
  const [verb, time = '', random] = id.split('-');
  const ids: string[] = [];
  for (let at = 1; at <= count; at += 1) {
    const copy = `${verb}-${(Number.parseInt(time, 36) + at).toString(36)}-${random}`;
    mkdirSync(join(jobs, copy));
    for (const name of ['spec.json', 'state.json', 'result.md', 'result.json', 'output.log', 'events.ndjson']) {
      const text = readFileSync(join(jobs, id, name), 'utf8');
      writeFileSync(join(jobs, copy, name), text.replaceAll(id, copy));
    }
    ids.push(copy);
  }
  return ids;
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\n', ' ') : value;
}

/** As a user pastes it: in another folder, without JOB_STATE_DIR. */
function shell(workspace: Workspace, command: string): { code: number; stdout: string; stderr: string } {
  try {
    const options = { cwd: workspace.base, env: workspace.env, encoding: 'utf8', stdio: 'pipe' } as const;
    return { code: 0, stdout: execFileSync('sh', ['-c', command], options), stderr: '' };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { code: status, stdout, stderr };
  }
}
