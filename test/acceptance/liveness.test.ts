/**
 * How an agent is doing while it runs, on the built file: working, waiting for what it started, a dead wait - and that none of it ends anything
 * (S2.74, S2.75, S2.91, S2.92). The agents are shells that sleep at gates, so that what they use is nothing.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { builtFile, parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, type JobEvent, killNow, untilStarted } from '../helpers/jobs.ts';
import { makeStaff, type ScriptedStaff } from '../helpers/staff.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const onLinux = { skip: process.platform === 'linux' ? false : 'there is no CPU time here' };
const limit = { limitMs: 90_000 };
const sleeper = 'sleep 1000';

interface Gate {
  /** Shell text that sleeps here, with no process of its own. */
  read: string;
  open(): void;
}

function makeGate(workspace: Workspace, name: string): Gate {
  const fifo = join(workspace.base, name);
  execFileSync('mkfifo', [fifo]);
  return {
    read: `read -r _ <'${fifo}'`,
    open() {
      const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
      writeSync(fd, '\n');
      workspace.defer(() => closeSync(fd));
    },
  };
}

interface Watched {
  staff: ScriptedStaff;
  job: Job;
  told(): JobEvent[];
  untilTold(word: string, count?: number): Promise<JobEvent>;
  untilSeen(what: string, isIt: (seen: NonNullable<JobState['liveness']>) => boolean): Promise<unknown>;
  /** The n-th next observation. */
  untilLooked(count: number): Promise<void>;
  /** It ends by itself, with its answer. */
  end(): Promise<void>;
}

/** An agent that does this; an observation takes a second. */
async function begin(workspace: Workspace, act: string, options: string[] = []): Promise<Watched> {
  const staff = makeStaff(workspace);
  staff.act(`${act}\necho answer`);
  const job = await staff.launch('staffer', ['--prompt', 'Do it.', '--quiet-after', '2s', ...options]);
  await untilStarted(job);
  const told = () => job.events('liveness');
  const seen = () => job.state().liveness;
  const untilSeen: Watched['untilSeen'] = (what, isIt) =>
    eventually(
      what,
      () => {
        const now = seen();
        return now !== null && now !== undefined && isIt(now);
      },
      limit,
    );
  return {
    ...{ staff, job, told, untilSeen },
    untilTold: (word, count = 1) =>
      eventually(
        `${word}, ${count} times`,
        () => told().filter((one) => one.word === word)[count - 1],
        limit,
      ) as Promise<JobEvent>,
    async untilLooked(count) {
      for (let left = count; left > 0; left -= 1) {
        const before = seen()?.at;
        await untilSeen('another look', ({ at }) => at !== before);
      }
    },
    async end() {
      const { code, stderr } = await run(workspace, ['wait', job.id]);
      assert.equal(code, 0, stderr);
      const { state, error, health, attention_kind } = job.state();
      assert.deepEqual([state, error, health, attention_kind], ['done', null, 'unknown', null]);
    },
  };
}

const wakesOf = (events: JobEvent[]) => events.filter(({ wake }) => wake !== undefined);

/** So that what begins now was not there at the start of the agent. */
async function untilPastStart(job: Job): Promise<void> {
  const startedAt = Date.parse(job.state().started_at ?? '');
  await eventually('the start to be past', () => Date.now() - startedAt > 6000, limit);
}

test(
  'a dead wait wakes once, with what was decided for it, wherever it is told; it ends nothing (S2.75, S2.77)',
  onLinux,
  async (t) => {
    const workspace = makeWorkspace(t);
    const [one, two] = [makeGate(workspace, 'one'), makeGate(workspace, 'two')];
    const notices = join(workspace.base, 'notices');
    const decided = 'Read its last call; then cancel and continue.';
    const notify = JSON.stringify(['sh', '-c', 'cat >>"$0"', notices]);
    const options = ['--on-stall', decided, '--notify', notify];
    const agent = await begin(workspace, `${one.read}\necho part >&2\n${two.read}`, options);
    const { job } = agent;
    const woken = await run(workspace, ['wait', job.id, '--until', 'attention', '--json']);
    assert.equal(woken.code, 2, woken.stderr);
    const { event, health, attention_kind } = parseReply<Record<string, unknown> & { event: JobEvent }>(woken);
    assert.deepEqual([event.type, event.word, event.on_stall], ['liveness', 'dead_wait', decided]);
    assert.deepEqual([health, attention_kind], ['attention', 'task_attention']);
    assert.match(
      String(event.reason),
      /^dead_wait: for .*no output, no CPU of its own.* it holds no network connection$/,
    );
    assert.ok(Number(event.observations) >= 2);
    // In words as well.
    const again = await run(workspace, ['wait', job.id, '--until', 'attention', '--after-seq', '0']);
    assert.match(again.stderr, /reason: dead_wait: .*\non stall: Read its last call; then cancel and continue\.$/m);
    const page = (await run(workspace, ['status', job.id])).stdout;
    assert.match(page, /^health: +attention \(dead_wait: /m);
    assert.match(page, /^on stall: +Read its last call/m);
    const seen = parseReply<Record<string, unknown>>(await run(workspace, ['observe', job.id]));
    assert.equal((seen.liveness as { word: string }).word, 'dead_wait');
    assert.match(String(seen.reason), /^dead_wait: /);
    await eventually('the notice', () => existsSync(notices) && readFileSync(notices, 'utf8').includes(decided), limit);
    // It goes on: nobody is woken again by the same standstill.
    await agent.untilLooked(3);
    assert.equal(wakesOf(agent.told()).length, 1);
    one.open();
    // It works again; and the next standstill is news.
    await agent.untilTold('working');
    await agent.untilTold('dead_wait', 2);
    const causes = wakesOf(agent.told()).map(({ fingerprint }) => fingerprint);
    assert.equal(new Set(causes).size, 2, causes.join(' '));
    two.open();
    await agent.end();
  },
);

test('an agent that sleeps while a process of its own works is not stalled (S2.75)', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const [late, over] = [makeGate(workspace, 'late'), makeGate(workspace, 'over')];
  const busy = `sh -c 'while :; do :; done' & busy=$!`;
  const agent = await begin(workspace, `${late.read}\n${busy}\n${over.read}\nkill $busy`);
  await untilPastStart(agent.job);
  late.open();
  const { reason, wake } = await agent.untilTold('waiting');
  assert.match(String(reason), /it waits for what it started, which works/);
  assert.equal(wake, undefined);
  const before = wakesOf(agent.told()).length;
  await agent.untilLooked(7);
  assert.equal(wakesOf(agent.told()).length, before);
  over.open();
  await agent.end();
});

test(
  'what it started and that sleeps is waited for; somebody should look after three times as long, and when it has ended (S2.75)',
  onLinux,
  async (t) => {
    const workspace = makeWorkspace(t);
    const [late, ended, over] = [
      makeGate(workspace, 'late'),
      makeGate(workspace, 'ended'),
      makeGate(workspace, 'over'),
    ];
    const agent = await begin(
      workspace,
      `${late.read}\n${sleeper} & tool=$!\n${ended.read}\nkill $tool\nwait $tool\n${over.read}`,
    );
    await untilPastStart(agent.job);
    late.open();
    await agent.untilTold('waiting');
    const asleep = (await eventually(
      'attention',
      () => agent.told().find(({ fingerprint }) => String(fingerprint).startsWith('asleep@')),
      limit,
    )) as JobEvent;
    assert.deepEqual([asleep.word, asleep.wake], ['waiting', ['attention']]);
    assert.match(String(asleep.reason), /^no observable change: .* and 1 descendant of its own asleep for /);
    ended.open();
    await eventually('the dead wait', () => agent.told().at(-1)?.word === 'dead_wait', limit);
    assert.equal(agent.told().at(-1)?.wake?.toString(), 'attention');
    over.open();
    await agent.end();
  },
);

test('what began with the agent hides no dead wait', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const over = makeGate(workspace, 'over');
  const agent = await begin(workspace, `${sleeper} & helper=$!\n${over.read}\nkill $helper`);
  const { reason } = await agent.untilTold('dead_wait');
  assert.match(String(reason), /nothing that it started is left \(but 1 process that began with it, asleep\)/);
  over.open();
  await agent.end();
});

test('a job of its own that is at work is a good reason to sleep', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const [inner, over] = [makeGate(workspace, 'inner'), makeGate(workspace, 'over')];
  const command = `'${testNode()}' '${builtFile}' run --id-only -- sh -c "${inner.read}"`;
  const agent = await begin(workspace, `${command} >"$HOME/inner"\n${over.read}`);
  const innerFile = join(workspace.home, 'inner');
  await eventually('the inner job', () => existsSync(innerFile) && readFileSync(innerFile, 'utf8').includes('run-'));
  await agent.untilSeen('the wait', ({ word, reason }) => word === 'waiting' && reason.includes('1 job of its own'));
  const before = wakesOf(agent.told()).length;
  await agent.untilLooked(7);
  assert.equal(wakesOf(agent.told()).length, before);
  inner.open();
  await run(workspace, ['wait', readFileSync(innerFile, 'utf8').trim()]);
  await agent.untilTold('dead_wait');
  over.open();
  await agent.end();
});

test('commits are work, whatever else stands still (S2.91)', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const over = makeGate(workspace, 'over');
  const agent = await begin(workspace, over.read);
  const commit = () =>
    execFileSync(
      'git',
      ['-c', 'user.name=n', '-c', 'user.email=n@e', 'commit', '-q', '--allow-empty', '-m', 'one more'],
      { cwd: workspace.dir, env: workspace.env },
    );
  await eventually(
    'an observation that saw a commit',
    () => {
      commit();
      const seen = agent.job.state().liveness;
      return seen?.word === 'working' && seen.reason.includes('a new commit');
    },
    limit,
  );
  over.open();
  await agent.end();
});

test('a killed worker costs no cause and repeats none (S2.90)', onLinux, async (t) => {
  const workspace = makeWorkspace(t);
  const [one, over] = [makeGate(workspace, 'one'), makeGate(workspace, 'over')];
  const agent = await begin(workspace, `${one.read}\necho more\n${over.read}`);
  await agent.untilTold('dead_wait');
  await killNow('the worker', agent.job.identity('worker'));
  assert.equal((await run(workspace, ['wait', agent.job.id, '--timeout', '1ms'])).code, 2);
  await eventually('a new worker', () => agent.job.events('worker_replaced').length === 1, limit);
  await agent.untilLooked(4);
  assert.equal(wakesOf(agent.told()).length, 1);
  assert.equal(agent.job.state().health, 'attention');
  one.open();
  await agent.untilTold('dead_wait', 2);
  assert.equal(wakesOf(agent.told()).length, 2);
  over.open();
  await agent.end();
});

test('the quiet time is refused out of its range, kept in the record, and goes on in a restart', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const refused = await staff.staff('staffer', ['--prompt', 'x', '--quiet-after', '10']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /cannot read --quiet-after: "10" is no duration; allowed: 1s to 24h/);
  assert.equal(existsSync(workspace.path('.job-state')), false);
  const plain = await staff.launch('staffer');
  assert.equal('quiet_ms' in plain.json<Spec>('spec.json'), false);
  const job = await staff.launch('staffer', ['--prompt', 'x', '--quiet-after', '20m']);
  await run(workspace, ['wait', job.id, plain.id, '--all']);
  const again = await run(workspace, ['restart', job.id, '--wait', '--json']);
  const { id } = parseReply<{ id: string }>(again);
  assert.deepEqual(
    [job, findJob(workspace, id)].map((one) => one.json<Spec>('spec.json').quiet_ms),
    [1_200_000, 1_200_000],
  );
});
