/**
 * The judgement of a `run` while it runs, on the built file: states, causes, estimates, probes of every bad kind, and that none of it
 * changes how the job ends (features S0.12, S0.13, S0.37 to S0.46, S2.75). Tests wait for events, and let the command end by themselves.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Checkpoint } from '../../companion/src/core/health-words.ts';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Hold, type Job, launch, makeHold, untilPid, untilStarted } from '../helpers/jobs.ts';
import { isAlive, killByIdentity, listProcesses } from '../helpers/process.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

type Told = Checkpoint & Record<string, unknown> & { wake: string[] };

const told = (job: Job): Told[] => job.events('checkpoint') as unknown as Told[];
const onLinux = { skip: process.platform === 'linux' ? false : 'there is no CPU time here' };

interface Judged extends Job {
  hold: Hold;
  /** The n-th checkpoint that was told. */
  until(count: number): Promise<Told[]>;
  untilOne(what: string, isIt: (one: Told) => boolean): Promise<Told>;
  /** The command ends by itself, with 0. */
  end(): Promise<Told[]>;
}

/** A held command that is judged every 500 ms unless the options say otherwise. `before` is shell text that runs first. */
async function begin(workspace: Workspace, options: string[], before = ''): Promise<Judged> {
  const hold = makeHold(workspace);
  const every = options.includes('--checkpoint-every') ? [] : ['--checkpoint-every', '500ms'];
  const command = before === '' ? hold.command : ['sh', '-c', `${before}\nexec "$@"`, 'sh', ...hold.command];
  const job = await launch(workspace, [...every, ...options, '--', ...command]);
  await untilStarted(job);
  await eventually('the held command to run', () => hold.isHeld(), { limitMs: 30_000 });
  const until = async (count: number) => {
    await eventually(`${count} checkpoints`, () => told(job).length >= count, { limitMs: 60_000 });
    const seen = told(job);
    await untilState(Number(seen.at(-1)?.seq));
    return seen;
  };
  // The event is written first, the state a moment later.
  const untilState = (seq: number) => eventually('its state', () => job.state().seq >= seq, { limitMs: 60_000 });
  return {
    ...job,
    hold,
    until,
    async untilOne(what, isIt) {
      const one = (await eventually(what, () => told(job).find(isIt), { limitMs: 60_000 })) as Told;
      await untilState(Number(one.seq));
      return one;
    },
    async end() {
      hold.release();
      const { code, stderr } = await run(workspace, ['wait', job.id]);
      assert.equal(code, 0, stderr);
      const state = job.state();
      assert.deepEqual([state.state, state.exit_code, state.warnings], ['done', 0, []]);
      return told(job);
    },
  };
}

test('more time than expected asks for attention and stops nothing (S0.12, S0.40)', async (t) => {
  const job = await begin(makeWorkspace(t), ['--expect', '700ms']);
  const over = await job.untilOne('attention', ({ state }) => state === 'attention');
  assert.equal(over.attention_kind, 'task_attention');
  assert.match(over.reason, /over the expected duration of 700ms/);
  const { health, attention_kind, checkpoint } = job.state();
  assert.deepEqual([health, attention_kind], ['attention', 'task_attention']);
  assert.match(checkpoint?.fingerprint ?? '', /over_expected/);
  await job.until(told(job).length + 2);
  const all = await job.end();
  // One cause wakes once, also beside another.
  const [first, ...later] = all.filter(({ fingerprint }) => fingerprint?.includes('over_expected'));
  assert.ok(first?.wake.includes('attention'));
  const same = later.filter(({ fingerprint }, index) => fingerprint === [first, ...later][index]?.fingerprint);
  assert.deepEqual(
    same.filter(({ wake }) => wake.includes('attention')),
    [],
  );
});

test('a probe that hangs makes its checkpoint unknown, and the job does not notice (S0.13)', async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'probe-pid');
  const job = await begin(workspace, [
    '--probe',
    `echo $$ >${pid}; trap '' TERM; sleep 60`,
    '--probe-timeout',
    '200ms',
  ]);
  const [first] = await job.until(1);
  assert.equal(first?.state, 'unknown');
  assert.match(first?.reason ?? '', /the probe took longer than 200ms/);
  await job.end();
});

test('the end of a job waits for no probe, and leaves none behind', async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'probe-pid');
  const line = `trap '' TERM; (trap '' TERM; exec sleep 1000) & echo $$ >${pid}.new && mv ${pid}.new ${pid}; wait`;
  const job = await begin(workspace, ['--probe', line, '--probe-timeout', '5m', '--kill-after', '5m']);
  const probe = await untilPid(pid);
  const released = performance.now();
  await job.end();
  // Far below every bound that could have been waited for (drain 2 s, grace, probe).
  assert.ok(performance.now() - released < 60_000);
  assert.deepEqual(job.events('leftovers_ended'), []);
  await eventually('the probe to be gone', () => !isAlive(probe));
  assert.deepEqual(told(job), []);
});

test(
  'what a probe leaves behind in a session of its own is ended, and is no left-over of the command',
  onLinux,
  async (t) => {
    const workspace = makeWorkspace(t);
    const pid = join(workspace.base, 'stray');
    const line = `[ -e ${pid} ] || { setsid sh -c 'echo $$ >${pid}; exec sleep 1000' </dev/null >/dev/null 2>&1 & }; sleep 0.2; echo "{}"`;
    const job = await begin(workspace, ['--probe', line]);
    await job.until(2);
    const stray = listProcesses({ environment: `JOB_COMPANION_ROLE=probe` }).filter(isAlive);
    assert.deepEqual(
      stray.map(({ pid: one }) => readFileSync(`/proc/${one}/cmdline`, 'utf8')).filter((one) => one.includes('1000')),
      [],
    );
    await job.end();
  },
);

test('a probe has the folder and the environment of the command, and no input', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('sub/here.txt', '');
  const line = 'printf "{\\"message\\":\\"%s %s %s %s\\"}" "$(ls)" "$JOB_ID" "$WORD" "$(cat | wc -c)"';
  const hold = makeHold(workspace);
  const options = ['--cwd', 'sub', '--checkpoint-every', '500ms', '--probe', line];
  const job = await launch(workspace, [...options, '--', ...hold.command], { env: { WORD: 'given' } });
  await eventually('the held command to run', () => hold.isHeld(), { limitMs: 30_000 });
  await eventually('a checkpoint', () => told(job).length > 0, { limitMs: 30_000 });
  assert.match(told(job)[0]?.reason ?? '', new RegExp(`here\\.txt ${job.id} given +0"`));
  hold.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

for (const [what, line, reason] of [
  ['garbage', 'echo what a day', /printed no single JSON object/],
  ['nothing', 'true', /printed nothing/],
  ['a huge number', 'echo "{\\"completed\\":1e999}"', /completed as a number that is too large/],
  ['two objects', 'echo "{}{}"', /no single JSON object/],
  ['a flood', 'exec yes', /printed more than 65536 bytes/],
  ['an error', 'echo not there >&2; exit 3', /exited with code 3: not there/],
  ['a death by signal', 'kill -9 $$', /exited with code 137/],
  ['control sequences', 'printf "\\033[31mred\\007"', /^[^\u001b\u0007]*$/],
] as const) {
  test(`a probe that gives ${what} makes its checkpoint unknown, with the reason, and the job does not notice (S0.37)`, async (t) => {
    const job = await begin(makeWorkspace(t), ['--probe', line]);
    const [first] = await job.until(1);
    assert.deepEqual([first?.state, first?.attention_kind, first?.eta_seconds], ['unknown', null, null]);
    assert.match(first?.reason ?? '', reason);
    await job.end();
  });
}

test('an advance, another phase and a changed result file are progress (S0.38)', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('say.json', '{"completed":1,"total":10,"phase":"load"}');
  workspace.write('made/deep/file', '');
  const job = await begin(workspace, ['--probe', 'cat say.json', '--result', 'out.bin', '--result', 'made']);
  const [first] = await job.until(1);
  assert.deepEqual([first?.state, first?.completed, first?.total, first?.phase], ['unknown', 1, 10, 'load']);
  const next = async (what: RegExp): Promise<void> => {
    const one = await job.untilOne(String(what), ({ state, reason }) => state === 'progressing' && what.test(reason));
    assert.deepEqual([one.attention_kind, one.fingerprint], [null, null]);
  };
  workspace.write('say.json', '{"completed":2,"total":10,"phase":"load"}');
  await next(/completed went from 1 to 2 of 10/);
  workspace.write('say.json', '{"completed":2,"total":10,"phase":"train"}');
  await next(/phase changed from "load" to "train"/);
  workspace.write('out.bin', 'x');
  await next(/out\.bin changed/);
  workspace.write('out.bin', 'more');
  // No folder is entered: what happens below a named one is not looked at.
  workspace.write('made/deep/file', 'changed');
  await job.until(told(job).length + 2);
  assert.equal(
    told(job).some(({ reason }) => reason.includes('made')),
    false,
  );
  await job.end();
});

test('a probe that reports failure asks for attention at once, and the job goes on (S0.40)', async (t) => {
  const line = 'echo "{\\"status\\":\\"Failed\\",\\"message\\":\\"loss is NaN\\"}"';
  const job = await begin(makeWorkspace(t), ['--probe', line, '--on-stall', 'ask Kim']);
  const [first] = await job.until(1);
  assert.deepEqual(
    [first?.state, first?.attention_kind, first?.wake],
    ['attention', 'task_attention', ['checkpoint', 'attention']],
  );
  assert.match(first?.reason ?? '', /the probe reports failure \(status "Failed", "loss is NaN"\)/);
  assert.equal(first?.on_stall, 'ask Kim');
  await job.end();
});

test('a child asleep alone is a dead wait after two intervals, and is told once (S2.75, S0.40)', onLinux, async (t) => {
  const job = await begin(makeWorkspace(t), []);
  const [first] = await job.until(1);
  assert.equal(first?.state, 'unknown');
  const dead = await job.untilOne('a dead wait', ({ state }) => state === 'attention');
  assert.match(dead.reason, /^dead_wait: /);
  await job.until(told(job).length + 2);
  const all = await job.end();
  assert.deepEqual(
    all.filter(({ wake }) => wake.includes('attention')).map(({ n }) => n),
    [dead.n],
  );
  assert.equal(new Set(all.flatMap(({ fingerprint }) => fingerprint ?? [])).size, 1);
});

test('a child asleep while its grandchild computes is not stalled (S2.75)', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'pid');
  const job = await begin(workspace, [], `(while :; do :; done) & echo $! >${pid}`);
  const all = await job.until(5);
  assert.deepEqual([...new Set(all.map(({ state }) => state))], ['unknown']);
  assert.match(
    all.at(-1)?.reason ?? '',
    /not enough evidence: no observable change for \d checkpoints, .* of CPU \(\d+.*1 descendant/,
  );
  killByIdentity(await untilPid(pid));
  await job.end();
});

test('a child asleep with a grandchild that sleeps is no dead wait, but a wait (S2.75)', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'pid');
  const job = await begin(workspace, [], `sleep 1000 & echo $! >${pid}`);
  const one = await job.untilOne('attention', ({ state }) => state === 'attention');
  assert.match(one.reason, /^no observable change .*: it is asleep with 1 descendant$/);
  assert.doesNotMatch(one.fingerprint ?? '', /dead_wait/);
  killByIdentity(await untilPid(pid));
  await job.end();
});

test('output, and the word DONE in it, is neither progress nor an end (S0.44)', async (t) => {
  const workspace = makeWorkspace(t);
  const pid = join(workspace.base, 'pid');
  const job = await begin(
    workspace,
    [],
    `'${testNode()}' -e 'setInterval(() => console.log("DONE"), 100)' & echo $! >${pid}`,
  );
  const all = await job.until(4);
  assert.deepEqual([...new Set(all.map(({ state }) => state))], ['unknown']);
  assert.match(all.at(-1)?.reason ?? '', /of output/);
  const { code } = await run(workspace, ['wait', job.id, '--timeout', '1s']);
  assert.deepEqual([code, job.state().state], [2, 'running']);
  killByIdentity(await untilPid(pid));
  await job.end();
});

test('every checkpoint is well formed, numbered upwards, and never early (S0.41, S0.45, S0.46)', async (t) => {
  const job = await begin(makeWorkspace(t), ['--label', 'nightly', '--owner', 'me', '--checkpoint-every', '300ms']);
  await job.until(5);
  const all = await job.end();
  const created = Date.parse(job.state().created_at);
  let before = 0;
  for (const one of all) {
    assert.deepEqual(
      [one.type, one.message, one.task, one.owner],
      ['checkpoint', 'long_wait_checkpoint', 'nightly', 'me'],
    );
    assert.ok(one.n > before, `${one.n} after ${before}`);
    before = one.n;
    assert.ok(Date.parse(one.at) - created >= one.n * 300 - 50, `checkpoint ${one.n} came early`);
    assert.ok(Number.isInteger(one.elapsed_seconds) && one.elapsed_seconds >= 0);
    assert.equal(one.attention_kind, one.state === 'attention' ? 'task_attention' : null);
    assert.equal(one.fingerprint === null, one.state !== 'attention');
    for (const value of [one.completed, one.total, one.eta_seconds, one.phase]) assert.equal(value, null);
  }
  const ranMs = job.state().duration_ms ?? 0;
  assert.ok(all.length <= Math.floor((ranMs + 1000) / 300), `${all.length} in ${ranMs} ms`);
});

test('by default there is no checkpoint in the first moments, and an old record without these fields is judged all the same', async (t) => {
  const workspace = makeWorkspace(t);
  const hold = makeHold(workspace);
  const job = await launch(workspace, ['--', ...hold.command]);
  await untilStarted(job);
  assert.equal(
    job.json<{ run: { checkpoint_ms: number; sample_ms: number } }>('spec.json').run.checkpoint_ms,
    3_600_000,
  );
  await eventually('the held command to run', () => hold.isHeld(), { limitMs: 30_000 });
  hold.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.deepEqual(
    [told(job), job.has('cursor.json'), job.has('worker.log') && job.text('worker.log')],
    [[], false, job.has('worker.log') && ''],
  );
});

test('a job that is judged while its result path lies in a folder that vanishes ends as it would', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('gone/out', 'x');
  const job = await begin(workspace, ['--result', 'gone/out', '--log', 'gone/log']);
  rmSync(workspace.path('gone'), { recursive: true });
  const one = await job.untilOne('the change', ({ reason }) => /gone\/out changed/.test(reason));
  assert.equal(one.state, 'progressing');
  await job.until(told(job).length + 1);
  await job.end();
});
