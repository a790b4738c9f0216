/**
 * `--notify`: somebody is told once of an end, whoever lives and whoever dies, and a notifier can do nothing to the job. Notices are
 * counted as lines that a notifier appends to a file.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Spec } from '../../companion/src/core/job.ts';
import { macOf } from '../../companion/src/store/mac.ts';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  findJob,
  type Job,
  killNow,
  killSupervision,
  launch,
  launchHeld,
  makeHold,
  program,
  untilHeld,
  untilPid,
} from '../helpers/jobs.ts';
import { isAlive, killByIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Notice {
  id: string;
  kind: string;
  state: string;
  event: { type: string; seq: number; first?: boolean };
  next: { wait: string; result: string; observe: string };
  timer?: { message: string };
  [field: string]: unknown;
}

const notifier = program('notifier.sh');

/** The option, and what was told so far. */
function telling(workspace: Workspace, ...more: string[]) {
  const file = join(workspace.base, 'told');
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  return {
    file,
    option: ['--notify', JSON.stringify([notifier, file, ...more])],
    notices: () => lines().map((line) => JSON.parse(line) as Notice),
  };
}

/** Told and written down; then nothing of it runs any more. */
function untilNotified(job: Job, count = 1) {
  return eventually(`${count} notified`, () => job.events('notified').length >= count, { limitMs: 60_000 });
}

for (const [outcome, command, options] of [
  ['done', ['true'], []],
  ['failed', ['sh', '-c', 'exit 3'], []],
  ['timed_out', ['sleep', '600'], ['--timeout', '1s', '--kill-after', '1s']],
] as const) {
  test(`one notice of a job that is ${outcome}, after its waiters were let go`, async (t) => {
    const workspace = makeWorkspace(t);
    const told = telling(workspace);
    const job = await launch(workspace, [...told.option, ...options, '--label', 'the build', '--', ...command]);
    await run(workspace, ['wait', job.id]);
    await untilNotified(job);
    const [notice, ...more] = told.notices();
    assert.deepEqual(more, []);
    assert.deepEqual(
      [notice?.id, notice?.kind, notice?.state, notice?.event.type, notice?.label, notice?.result_path],
      [job.id, 'run', outcome, 'ended', 'the build', job.path('result.md')],
    );
    assert.deepEqual(notice?.error, job.state().error);
    assert.equal(notice?.exit_code, job.state().exit_code);
    for (const verb of ['wait', 'result', 'observe'] as const)
      assert.match(notice?.next[verb] ?? '', new RegExp(`${verb} ${job.id}`));
    const [event] = job.events('notified');
    assert.deepEqual([event?.key, event?.code, event?.how, event?.output], ['end', 0, 'exited', '']);
    // An event only: the state stays what was published.
    assert.equal(job.events().at(-1)?.type, 'notified');
    assert.equal(job.state().seq, job.events('ended')[0]?.seq);
    // Whoever looks later tells nobody again.
    for (const verb of ['wait', 'observe', 'status', 'result']) await run(workspace, [verb, job.id]);
    assert.equal(told.notices().length, 1);
  });
}

test('one notice of a job that is canceled', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const job = await launchHeld(workspace, { options: told.option });
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  await untilNotified(job);
  assert.deepEqual(
    told.notices().map(({ state, id }) => [state, id]),
    [['canceled', job.id]],
  );
});

test('a timer with a notifier has a worker that tells its message, due or canceled', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const arm = async (delay: string) => {
    const words = ['timer', 'in', delay, '--message', 'look\n', ...told.option, '--id-only'];
    return findJob(workspace, (await run(workspace, words)).stdout.trim());
  };
  const due = await arm('1s');
  assert.ok(isAlive(due.identity('launched')));
  await untilNotified(due);
  assert.deepEqual([due.state().state, due.state().reconciled], ['done', false]);
  assert.equal(told.notices()[0]?.timer?.message, 'look\n');
  const canceled = await arm('1h');
  assert.equal((await run(workspace, ['cancel', canceled.id])).code, 0);
  await untilNotified(canceled);
  assert.deepEqual(
    told.notices().map(({ id, state }) => [id, state]),
    [
      [due.id, 'done'],
      [canceled.id, 'canceled'],
    ],
  );
});

test('a timer whose worker was killed is settled by the first of twenty readers, and told once', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const words = ['timer', 'in', '1s', '--message', 'x', ...told.option, '--id-only'];
  const job = findJob(workspace, (await run(workspace, words)).stdout.trim());
  await killNow('the worker', job.identity('launched'));
  const due = Date.parse(job.json<Spec>('spec.json').timer?.due_at ?? '');
  await eventually('the instant', () => Date.now() >= due);
  assert.deepEqual(told.notices(), []);
  const verbs = ['wait', 'observe', 'status', 'result'];
  await Promise.all(Array.from({ length: 20 }, (_, at) => run(workspace, [verbs[at % 4] as string, job.id])));
  await untilNotified(job);
  assert.equal(job.state().reconciled, true);
  assert.equal(told.notices().length, 1);
});

test('a worker killed before it published: the reader that settles the job has it told, once', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const job = await launchHeld(workspace, { options: told.option });
  await killSupervision(job);
  const waits = Array.from({ length: 5 }, () => run(workspace, ['wait', job.id]));
  for (const { code } of await Promise.all(waits)) assert.equal(code, 3);
  await untilNotified(job);
  assert.deepEqual(
    told.notices().map(({ state }) => state),
    ['crashed'],
  );
});

/** As a worker leaves it that was killed after it published the end and before it told it. */
async function makeUntold(workspace: Workspace, { file, option }: ReturnType<typeof telling>): Promise<Job> {
  const job = await launch(workspace, [...option, '--', 'true']);
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  await untilNotified(job);
  await killNow('the worker', job.identity('worker'));
  rmSync(job.path('notices'), { recursive: true });
  rmSync(file);
  return job;
}

test('a worker killed after it published and before it told: the next reader has it told, once', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const job = await makeUntold(workspace, told);
  await Promise.all(Array.from({ length: 20 }, () => run(workspace, ['observe', job.id])));
  await eventually('the event', () => job.events('notified').length === 2);
  await run(workspace, ['observe', job.id]);
  assert.equal(told.notices().length, 1);
});

test('twenty processes that would tell the same end at once tell it once', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const job = await makeUntold(workspace, told);
  const words = ['_notify', workspace.path('.job-state'), job.id];
  const replies = await Promise.all(Array.from({ length: 20 }, () => run(workspace, words)));
  assert.ok(replies.every(({ code, stdout }) => code === 0 && stdout === ''));
  assert.deepEqual([told.notices().length, job.events('notified').length], [1, 2]);
  assert.deepEqual(readdirSync(job.path('notices')), ['end']);
});

for (const [what, plant] of [
  ['a file in the place of the claims', 'echo x >notices'],
  ['a link in the place of the claims', 'ln -s "$ASIDE" notices'],
  ['a link to nothing in the place of the claims', 'ln -s /no/such/place notices'],
  ['a file in the place of the claim', 'mkdir notices; echo x >notices/end'],
  ['a link in the place of the claim', 'mkdir notices; ln -s "$ASIDE/by" notices/end'],
  ['a folder as older releases made it', 'mkdir -p notices/end; echo 0123456789abcdef >notices/end/by'],
  ['a FIFO in the place of the claim', 'mkdir notices; mkfifo notices/end'],
  ['a claim that looks like one', `mkdir notices; echo "0123456789abcdef ${'0'.repeat(64)}" >notices/end`],
] as const) {
  test(`${what}, made by the job, silences nobody and is written through by nobody`, async (t) => {
    const workspace = makeWorkspace(t);
    const told = telling(workspace);
    const aside = join(workspace.base, 'aside');
    mkdirSync(aside);
    const script = `cd "${workspace.path('.job-state')}/jobs/$JOB_ID" && ${plant}`;
    const job = await launch(workspace, [...told.option, '--', 'sh', '-c', script], { env: { ASIDE: aside } });
    assert.equal((await run(workspace, ['wait', job.id])).code, 0);
    await untilNotified(job);
    await eventually('the worker to be gone', () => !isAlive(job.identity('worker')));
    await run(workspace, ['observe', job.id]);
    assert.deepEqual(
      told.notices().map(({ event }) => event.type),
      ['ended'],
    );
    assert.equal(job.events('notified').length, 1);
    assert.deepEqual(readdirSync(aside), []);
  });
}

test('a job of an older release, whose claims are folders, is not told again', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const job = await makeUntold(workspace, told);
  const { sealed_notices: _, mac: __, ...old } = job.json<Spec>('spec.json');
  const key = readFileSync(join(workspace.home, '.config/job-companion/key'), 'utf8').trim();
  writeFileSync(job.path('spec.json'), `${JSON.stringify({ ...old, mac: await macOf(old, key) })}\n`);
  mkdirSync(job.path('notices/end'), { recursive: true });
  await run(workspace, ['_notify', workspace.path('.job-state'), job.id]);
  await run(workspace, ['observe', job.id]);
  assert.deepEqual(told.notices(), []);
  // Without a claim it is, so that the record was believed.
  rmSync(job.path('notices'), { recursive: true });
  await run(workspace, ['_notify', workspace.path('.job-state'), job.id]);
  assert.equal(told.notices().length, 1);
});

test('a worker killed while its notifier runs: told once, and the notifier ends by itself', async (t) => {
  const workspace = makeWorkspace(t);
  const fifo = join(workspace.base, 'go');
  execFileSync('mkfifo', [fifo]);
  const told = telling(workspace, 'hold', fifo);
  const job = await launch(workspace, [...told.option, '--', 'true']);
  const holding = await untilPid(`${told.file}.pid`);
  await killNow('the worker', job.identity('worker'));
  await Promise.all(Array.from({ length: 5 }, () => run(workspace, ['wait', job.id])));
  assert.ok(isAlive(holding));
  writeFileSync(fifo, '\n');
  await eventually('the notifier to be gone', () => !isAlive(holding));
  await run(workspace, ['observe', job.id]);
  assert.equal(told.notices().length, 1);
});

test('a notifier that hangs delays no wait, is ended, and leaves nothing', async (t) => {
  const workspace = makeWorkspace(t, { leakLimitMs: 60_000 });
  const told = telling(workspace, 'hang');
  const job = await launch(workspace, [...told.option, '--', 'true']);
  const waited = await run(workspace, ['wait', job.id]);
  const hanging = await untilPid(`${told.file}.pid`);
  assert.equal(waited.code, 0);
  assert.ok(isAlive(hanging), 'the wait should have been over long before');
  assert.deepEqual(job.events('notified'), []);
  const state = job.text('state.json');
  await untilNotified(job);
  const [event] = job.events('notified');
  assert.deepEqual([event?.how, event?.code, isAlive(hanging)], ['timeout', null, false]);
  assert.equal(job.text('state.json'), state);
});

test('a notifier that fails, floods, is gone or answers like our own claim changes nothing but its event', async (t) => {
  const workspace = makeWorkspace(t);
  const gone = workspace.write('gone.sh', '#!/bin/sh\n');
  chmodSync(gone, 0o755);
  const cases: [option: string[], how: string, code: number | null, output: RegExp][] = [
    [telling(workspace, 'fail').option, 'exited', 9, /^cannot tell$/],
    [telling(workspace, 'code', '121').option, 'exited', 121, /^$/],
    [telling(workspace, 'flood').option, 'flooded', null, /^y\n/],
    [['--notify', gone], 'exited', 127, /gone\.sh/],
  ];
  for (const [option, how, code, output] of cases) {
    const hold = makeHold(workspace, 5);
    const job = await launch(workspace, [...option, '--', ...hold.command]);
    await untilHeld(hold);
    if (option.includes(gone)) execFileSync('rm', [gone]);
    hold.release();
    const waited = await run(workspace, ['wait', job.id]);
    await untilNotified(job);
    const [event = {} as Record<string, unknown>] = job.events('notified');
    assert.deepEqual([waited.code, job.state().exit_code, event.how, event.code], [3, 5, how, code]);
    assert.match(String(event.output), output);
    assert.ok(Buffer.byteLength(String(event.output)) <= 1024);
  }
});

test('a notifier gets its words as they are, the environment of the caller, and the folder of the job', async (t) => {
  const workspace = makeWorkspace(t);
  const file = join(workspace.base, 'told');
  mkdirSync(workspace.path('sub'));
  const command = `${notifier} ${file} environment - "a b" $HOME '*' \\;`;
  const job = await launch(workspace, ['--notify', command, '--cwd', 'sub', '--', 'true'], {
    env: { COLOR: 'blue', NODE_OPTIONS: '--no-deprecation', JOB_OWNER: 'me' },
  });
  await untilNotified(job);
  assert.equal(readFileSync(`${file}.args`, 'utf8'), 'a b\n$HOME\n*\n;\n');
  assert.equal(readFileSync(`${file}.pwd`, 'utf8'), `${workspace.path('sub')}\n`);
  const env = readFileSync(`${file}.env`, 'utf8').split('\n');
  for (const line of ['COLOR=blue', 'NODE_OPTIONS=--no-deprecation', 'JOB_OWNER=me', `JOB_ID=${job.id}`])
    assert.ok(env.includes(line), line);
  // No word of this job: a notifier may start jobs of its own, and no sweep of this one ends it.
  const { mark } = job.json<Spec>('spec.json');
  assert.ok(!env.some((line) => line.includes(mark) || line.startsWith('JOB_COMPANION_ROLE=')));
});

test('the config of the user names a notifier for every job without one; the state folder cannot', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const words = JSON.parse(told.option[1] as string) as string[];
  const folder = join(workspace.home, '.config', 'job-companion');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ notify: words }), { mode: 0o600 });
  const job = await launch(workspace, ['--', 'true']);
  await untilNotified(job);
  assert.equal(told.notices().length, 1);
  const none = await launch(workspace, ['--notify', 'none', '--', 'true']);
  assert.equal(none.json<Spec>('spec.json').notify, null);
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ notify: ['./relative.sh'] }), { mode: 0o600 });
  const refused = await run(workspace, ['run', '--', 'true']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /must be absolute or on PATH/);
  writeFileSync(join(folder, 'config.json'), '{}', { mode: 0o600 });
  writeFileSync(workspace.path('.job-state', 'config.json'), JSON.stringify({ notify: words }), { mode: 0o600 });
  const planted = await launch(workspace, ['--', 'true']);
  assert.equal((await run(workspace, ['wait', planted.id])).code, 0);
  assert.equal(planted.json<Spec>('spec.json').notify, null);
  assert.equal(told.notices().length, 1);
});

test('a record that somebody changed names nobody who is started', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const job = await launch(workspace, ['--', 'true']);
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  await eventually('the worker to be gone', () => !isAlive(job.identity('worker')));
  const spec = job.json<Spec>('spec.json');
  writeFileSync(job.path('spec.json'), JSON.stringify({ ...spec, notify: JSON.parse(told.option[1] as string) }));
  for (const verb of ['wait', 'observe', 'status', 'result']) await run(workspace, [verb, job.id]);
  assert.deepEqual([told.notices(), job.has('notices'), job.events('notified')], [[], false, []]);
});

test('restart keeps the notifier unless it is given another', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const job = await launch(workspace, [...told.option, '--', 'true']);
  await untilNotified(job);
  const again = parseReply(await run(workspace, ['restart', job.id, '--json']));
  const next = findJob(workspace, String(again.id));
  await untilNotified(next);
  assert.deepEqual(
    told.notices().map(({ id }) => id),
    [job.id, next.id],
  );
  const silent = parseReply(await run(workspace, ['restart', job.id, '--notify', 'none', '--json']));
  assert.equal(findJob(workspace, String(silent.id)).json<Spec>('spec.json').notify, null);
});

test('what cannot be a notifier is refused, and nothing is made', async (t) => {
  const workspace = makeWorkspace(t);
  const plain = workspace.write('plain.sh', '#!/bin/sh\n');
  chmodSync(plain, 0o644);
  for (const [text, why] of [
    ['no-such-program x', /is not on PATH \(.*\/bin/],
    [plain, /no executable file/],
    ['./plain.sh', /no executable file of that name \(looked from/],
    ['"a', /not closed/],
    ['a | b', /no shell reads it/],
    ['[1]', /no array of texts/],
    ['', /names no program/],
  ] as const) {
    const refused = await run(workspace, ['run', '--notify', text, '--', 'true']);
    assert.equal(refused.code, 1, text);
    assert.match(refused.stderr, why);
  }
  assert.equal(existsSync(workspace.path('.job-state')), false);
});

test('news of a watch are told one by one while it runs, and a notifier is not ended with its job', async (t) => {
  const workspace = makeWorkspace(t);
  const fifo = join(workspace.base, 'go');
  execFileSync('mkfifo', [fifo]);
  const told = telling(workspace, 'hold', fifo);
  const words = ['watch', 'file', 'seen.txt', '--for', '1h', '--every', '1s', '--repeat', ...told.option, '--id-only'];
  const launched = await run(workspace, words);
  assert.equal(launched.code, 0, launched.stderr);
  const job = findJob(workspace, launched.stdout.trim());
  await eventually('the first look', () => job.has('events.ndjson') && job.events('news').length > 0, {
    limitMs: 30_000,
  });
  workspace.write('seen.txt', 'x');
  await eventually('the first news', () => told.notices().length > 0, { limitMs: 30_000 });
  const first = await untilPid(`${told.file}.pid`);
  assert.deepEqual([told.notices()[0]?.event.type, told.notices()[0]?.event.first], ['news', undefined]);
  // Whoever gets it may stand anywhere.
  const root = workspace.path('.job-state');
  for (const command of Object.values(told.notices()[0]?.next ?? {}))
    assert.ok(command.endsWith(` --state-dir ${root}`), command);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.ok(isAlive(first), 'the sweep at the end of the job must not touch it');
  writeFileSync(fifo, '\n');
  await eventually('the end to be told', () => told.notices().some(({ event }) => event.type === 'ended'), {
    limitMs: 30_000,
  });
  writeFileSync(fifo, '\n');
  // How things are at first is no news for anybody.
  const news = job.events('news').length - 1;
  await untilNotified(job, news + 1);
  const keys = job.events('notified').map(({ key }) => key);
  assert.deepEqual(new Set(keys).size, keys.length);
});

test('a new cause for attention is told once while the run goes on, and then its end', async (t) => {
  const workspace = makeWorkspace(t);
  const told = telling(workspace);
  const judged = ['--expect', '1s', '--checkpoint-every', '500ms', '--sample-every', '100ms'];
  const job = await launchHeld(workspace, { options: [...told.option, ...judged] });
  await eventually('several judgements with the same cause', () => job.events('checkpoint').length >= 6, {
    limitMs: 60_000,
  });
  const causes = job.events('checkpoint').filter(({ wake }) => (wake as string[]).includes('attention'));
  await untilNotified(job, causes.length);
  job.release();
  await run(workspace, ['wait', job.id]);
  await eventually('the end to be told', () => job.events('notified').some(({ key }) => key === 'end'));
  const wanted = job.events('checkpoint').filter(({ wake }) => (wake as string[]).includes('attention'));
  assert.ok(wanted.length >= 1);
  assert.deepEqual(
    told.notices().map(({ event }) => [event.type, event.seq]),
    [...wanted.map(({ seq }) => ['checkpoint', seq]), ['ended', job.events('ended')[0]?.seq]],
  );
  const [first] = told.notices();
  assert.deepEqual([first?.state, typeof first?.reason], ['running', 'string']);
});

test('a job inside a job: the notifier of the inner one outlives the end of the outer one', async (t) => {
  const workspace = makeWorkspace(t);
  const fifo = join(workspace.base, 'go');
  execFileSync('mkfifo', [fifo]);
  const told = telling(workspace, 'hold', fifo);
  const outer = await launch(workspace, [
    '--',
    'sh',
    '-c',
    '"$0" "$1" run --notify "$2" -- true && exec sleep 600',
    process.execPath,
    join(import.meta.dirname, '../../companion/job-companion.cjs'),
    told.option[1] as string,
  ]);
  const holding = await untilPid(`${told.file}.pid`);
  assert.equal((await run(workspace, ['cancel', outer.id])).code, 0);
  assert.ok(isAlive(holding));
  killByIdentity(holding, 'SIGTERM');
  await eventually('it to be gone', () => !isAlive(holding));
});

test('a wait that is pending is let go before the notifier begins', async (t) => {
  const workspace = makeWorkspace(t);
  const fifo = join(workspace.base, 'go');
  execFileSync('mkfifo', [fifo]);
  const told = telling(workspace, 'hold', fifo);
  const job = await launchHeld(workspace, { options: told.option });
  const waiting = start(workspace, ['wait', job.id]);
  await eventually('the wait', () => existsSync(job.path('waiters')));
  job.release();
  await untilPid(`${told.file}.pid`);
  // What a wait sleeps on is let go: not only would it look again in time.
  const { pid } = job.identity('worker');
  const open = existsSync('/proc/self/fd') ? readdirSync(`/proc/${pid}/fd`) : [];
  const held = open.map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  assert.ok(!held.some((target) => target.includes('lease.fifo')), held.join(' '));
  assert.equal((await waiting.promise).code, 0);
  writeFileSync(fifo, '\n');
  await untilNotified(job);
});

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
