/**
 * `reconcile`, the page for a caller that was just woken: one bounded screen that is right about a finished job, a crashed one, a machine that
 * was restarted, wakes that are late or come twice; the same number gives the same again; nothing that a job writes can bend it.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { builtFile, parseReply, type RunOptions, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { killNow, killSupervision, launch, launchHeld } from '../helpers/jobs.ts';
import { makeStaff } from '../helpers/staff.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Page {
  now: string;
  last_look: { age_ms: number } | null;
  since: number;
  next_seq: number;
  is_stored: boolean;
  restarts: { host: string | null; workers: { id: string; type: string }[]; lost: { id: string; code: string }[] };
  fired: Fired[];
  outstanding: {
    id: string;
    state: string;
    health: string;
    worker: string;
    late: string | null;
    left_ms: number | null;
    next: string;
  }[];
  not_read: { count: number; newest: string[] };
  left_out: { fired: number; outstanding: number; older: number };
  next: { reconcile: string };
}

interface Fired {
  id: string;
  wake: string;
  state: string;
  what: string;
  late: { kind: string; words: string } | null;
  next: string | null;
}

const bytesAtMost = 16 * 1024;

async function look(workspace: Workspace, words: string[] = [], options?: RunOptions): Promise<Page> {
  const result = await run(workspace, ['reconcile', '--json', ...words], options);
  assert.equal(result.code, 0, result.stderr);
  assert.ok(result.stdoutBytes.length <= bytesAtMost + 1, `${result.stdoutBytes.length} bytes`);
  return parseReply<Page>(result);
}

async function lookAtPage(workspace: Workspace, words: string[] = []): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, ['reconcile', ...words]);
  assert.deepEqual([code, stderr], [0, '']);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0);
  assert.ok(rows <= 40, `${rows} rows:\n${stdout}`);
  return stdout;
}

const launchEnded = async (workspace: Workspace, words: string[]) => {
  const job = await launch(workspace, words);
  await eventually('its end', () => job.has('state.json') && job.state().ended_at !== null, { limitMs: 20_000 });
  return job;
};

test('the clock first, then what fired with its next command, then what is outstanding, then the command for the next time', async (t) => {
  const workspace = makeWorkspace(t);
  const done = await launchEnded(workspace, ['--label', 'build it', '--', 'true']);
  const failed = await launchEnded(workspace, ['--', 'false']);
  const held = await launchHeld(workspace, { options: ['--label', 'the long one'] });
  const page = await lookAtPage(workspace);
  const [first = ''] = page.split('\n');
  assert.match(first, /^now \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, local .* [+-]\d\d:\d\d; the first look$/);
  const order = [done.id, `result ${done.id}`, failed.id, `result ${failed.id}`, held.id, `wait ${held.id} --timeout`];
  const places = order.map((text) => page.indexOf(text));
  assert.deepEqual(
    [...places].sort((a, b) => a - b),
    places,
    page,
  );
  assert.match(page, /done.*: build it/);
  assert.match(
    page,
    /the long one\n {4}running, \d+s old, 23h59m left, worker alive, last event \d+s ago, nobody waits\n/,
  );
  assert.match(page, /next time:\n {4}.* reconcile --since \d+\n$/);
  held.release();
});

test('what was told is not told again by itself; the same number gives the same again; both in any order', async (t) => {
  const workspace = makeWorkspace(t);
  const one = await launchEnded(workspace, ['--', 'true']);
  const first = await look(workspace);
  assert.deepEqual(
    first.fired.map(({ id }) => id),
    [one.id],
  );
  const two = await launchEnded(workspace, ['--', 'false']);
  const number = ['--since', String(first.next_seq)];
  const ids = async (words: string[]) => (await look(workspace, words)).fired.map(({ id }) => id);
  assert.deepEqual(await ids(number), [two.id]);
  assert.deepEqual(await ids(number), [two.id]);
  assert.deepEqual(await ids([]), []);
  assert.deepEqual(await ids(number), [two.id]);
  assert.deepEqual(await ids(['--since', '0']), [one.id, two.id]);
  const last = await look(workspace);
  assert.deepEqual(last.fired, []);
  assert.ok(last.last_look);
  assert.ok(last.next_seq >= first.next_seq);
  assert.deepEqual([...last.not_read.newest].sort(), [one.id, two.id].sort());
});

test('each owner has a number of its own, and JOB_OWNER names it', async (t) => {
  const workspace = makeWorkspace(t);
  const [ann, bob] = [
    await launchEnded(workspace, ['--owner', 'ann', '--', 'true']),
    await launchEnded(workspace, ['--owner', '../../bob', '--', 'true']),
  ];
  assert.deepEqual(
    (await look(workspace, ['--owner', 'ann'])).fired.map(({ id }) => id),
    [ann.id],
  );
  assert.deepEqual(
    (await look(workspace, [], { env: { JOB_OWNER: '../../bob' } })).fired.map(({ id }) => id),
    [bob.id],
  );
  assert.deepEqual(
    (await look(workspace)).fired.map(({ id }) => id),
    [ann.id, bob.id],
  );
  for (const name of readdirSync(workspace.path('.job-state/looks'))) assert.match(name, /^[0-9a-f]{40}\.json$/);
});

test('an end that was read is a duplicate, an event that its end has overtaken is late', async (t) => {
  const workspace = makeWorkspace(t);
  const options = ['--expect', '1ms', '--checkpoint-every', '200ms'];
  const job = await launchHeld(workspace, { options });
  const told = () => job.events('checkpoint').some(({ wake }) => (wake as string[]).includes('attention'));
  await eventually('a checkpoint that asks for attention', told, { limitMs: 20_000 });
  const [before] = (await look(workspace)).fired;
  assert.deepEqual([before?.wake, before?.late], ['attention', null]);
  const open = (await look(workspace)).outstanding[0];
  assert.match(open?.late ?? '', /^expected to take 1ms, runs for /);
  assert.match(open?.next ?? '', / observe /);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id, '--owner', 'ann'], { env: { JOB_OWNER: 'ann' } })).code, 0);
  const { fired } = await look(workspace, ['--since', '0']);
  assert.deepEqual(
    fired.map(({ wake, late }) => [wake, late?.kind]),
    [
      ['attention', 'late'],
      ['terminal', 'duplicate'],
    ],
  );
  assert.match(fired[1]?.late?.words ?? '', /^read by wait of ann \d+s ago; another wake for it is a duplicate$/);
  assert.deepEqual(
    fired.map(({ next }) => next),
    [null, null],
  );
});

test('a timer: one that had nothing left to guard is late, a replaced one too, one that is armed for nothing is to be canceled', async (t) => {
  const workspace = makeWorkspace(t);
  const timer = async (...words: string[]) =>
    (await run(workspace, ['timer', 'in', ...words, '--id-only'])).stdout.trim();
  const reminder = await timer('1s');
  assert.equal((await run(workspace, ['wait', reminder])).code, 0);
  const job = await launchHeld(workspace);
  const [first, second] = [await timer('20m', '--slot', 'one'), await timer('20m', '--slot', 'one')];
  const before = await look(workspace, ['--since', '0']);
  assert.deepEqual(
    before.fired.map(({ id, late }) => [id, late?.kind]),
    [
      [reminder, 'duplicate'],
      [first, 'replaced'],
    ],
  );
  assert.match(before.fired[1]?.late?.words ?? '', new RegExp(`^replaced by ${second}`));
  job.release();
  await eventually('its end', () => job.state().ended_at !== null);
  const late = await timer('1s');
  await eventually('it is settled', async () => (await run(workspace, ['status', late])).code === 0);
  const after = await look(workspace);
  // Nothing of this owner lived when it was armed: a reminder.
  assert.equal(after.fired.find(({ id }) => id === late)?.late, null);
  const armed = after.outstanding.find(({ id }) => id === second);
  assert.match(armed?.late ?? '', /would wake for nothing/);
  assert.match(armed?.next ?? '', new RegExp(`cancel ${second}$`));
  assert.equal((await run(workspace, ['cancel', second])).code, 0);
});

test('a backstop that came due after all its jobs had ended is named as late', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const id = (await run(workspace, ['timer', 'in', '2s', '--id-only'])).stdout.trim();
  job.release();
  await eventually('its end', () => job.state().ended_at !== null);
  const state = await eventually('it is due', async () => {
    const page = await look(workspace, ['--since', '0']);
    return page.fired.find((one) => one.id === id);
  });
  // On a busy machine the job may have ended after the instant: then it was on time.
  if (job.state().ended_at! < JSON.parse(workspace.read(`.job-state/jobs/${id}/state.json`)).ended_at)
    assert.match(state.late?.words ?? '', new RegExp(`^nothing was left to guard when it came due: ${job.id} ended `));
});

test('a crashed job, a lost worker and its replacement are told, with what comes next', async (t) => {
  const workspace = makeWorkspace(t);
  const crashed = await launchHeld(workspace);
  await killSupervision(crashed);
  const orphan = await launchHeld(workspace);
  await killNow('the worker', orphan.identity('worker'));
  const page = await look(workspace);
  assert.deepEqual(page.restarts.lost, [{ id: crashed.id, code: 'worker_lost' }]);
  assert.deepEqual(
    page.fired.map(({ id, state }) => [id, state]),
    [[crashed.id, 'crashed']],
  );
  const [open] = page.outstanding;
  assert.deepEqual([open?.id, open?.health, open?.worker], [orphan.id, 'attention', 'gone']);
  assert.match(open?.next ?? '', new RegExp(` wait ${orphan.id} `));
  // The next command does what it says.
  const waiting = start(workspace, ['wait', orphan.id]);
  await eventually('another worker', () => orphan.events('worker_replaced').length === 1, { limitMs: 20_000 });
  orphan.release();
  assert.equal((await waiting.promise).code, 0);
  const after = await lookAtPage(workspace);
  assert.match(after, new RegExp(`! ${orphan.id}: its worker was lost and replaced`));
});

test('after a restart of the machine the page says so', async (t) => {
  const workspace = makeWorkspace(t);
  if (!canUnshareMounts()) return t.skip('needs the right to make a mount namespace');
  const job = await launchHeld(workspace);
  const watch = (
    await run(workspace, ['watch', 'file', '--exists', join(workspace.base, 'none'), '--for', '1h', '--id-only'])
  ).stdout.trim();
  const timer = (await run(workspace, ['timer', 'in', '20m', '--id-only'])).stdout.trim();
  await look(workspace);
  const child = job.identity('child');
  await killSupervision(job);
  await killNow('the child', child);
  const page = await lookAfterRestart(workspace);
  assert.equal(page.restarts.host, 'since_look');
  assert.deepEqual(page.restarts.lost, [{ id: job.id, code: 'host_restarted' }]);
  assert.deepEqual(
    page.fired.map(({ id, state }) => [id, state]),
    [[job.id, 'crashed']],
  );
  assert.deepEqual(page.outstanding.map(({ id }) => id).sort(), [watch, timer].filter((id) => id !== '').sort());
  for (const id of [watch, timer]) if (id !== '') await run(workspace, ['cancel', id]);
});

test('a queued job is told with its place and whom it waits for; a wait that holds a job counts only while it can wake somebody', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await launchHeld(workspace, { options: ['--max-live', '1'] });
  const second = await launch(workspace, ['--max-live', '1', '--label', 'the next', '--', 'true']);
  const queued = () => second.has('state.json') && second.events('queued').length === 1;
  await eventually('a place in the queue', queued, { limitMs: 20_000 });
  const waiting = start(workspace, ['wait', second.id]);
  await eventually('the wait', () => readdirSync(second.path('waiters')).length === 1);
  const page = await lookAtPage(workspace);
  const standing = `queued, place 1 behind ${first.id}, \\d+s old, worker alive, [^/]*a wait holds it`;
  assert.match(page, new RegExp(`${second.id} {2}the next\n {4}${standing}`.replaceAll(', ', ',\\s+')));
  assert.match(page, new RegExp(`observe ${second.id}\n`));
  waiting.kill('SIGSTOP');
  const stopped = (await look(workspace)).outstanding.find(({ id }) => id === second.id);
  assert.match(stopped?.next ?? '', new RegExp(` wait ${second.id} `));
  assert.deepEqual(stopped?.left_ms, null);
  waiting.kill('SIGCONT');
  first.release();
  assert.equal((await waiting.promise).code, 0);
  const after = await look(workspace);
  assert.deepEqual(
    after.fired.map(({ id }) => id),
    [first.id, second.id],
  );
});

test('what an agent handed back is named, with the command that reads it, also after its end', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const dir = join(workspace.base, 'hand over');
  staff.act(`printf one > "$JOB_HANDBACK/01-question.md"; printf two > "$JOB_HANDBACK/02-blocked.md"; echo answer`);
  const job = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x']);
  await eventually('its end', () => job.has('state.json') && job.state().ended_at !== null, { limitMs: 30_000 });
  const { fired } = await look(workspace);
  assert.deepEqual(
    fired.map(({ wake, late }) => [wake, late?.kind ?? null]),
    [
      ['handback', 'late'],
      ['terminal', null],
    ],
  );
  assert.match(fired[0]?.what ?? '', /^handback \(2 files\): 01-question.md, 02-blocked.md$/);
  assert.equal(fired[0]?.next, `cat '${dir}/01-question.md' '${dir}/02-blocked.md'`);
});

test('thirty jobs, hostile labels and long reasons: one screen, 16 KiB, and what is missing is counted', async (t) => {
  const workspace = makeWorkspace(t);
  const label = `\x1b[2J\x1b]0;owned\x07 a\nb\t${'\u6f22'.repeat(200)}`;
  for (let n = 0; n < 15; n += 1) await launch(workspace, ['--label', label, '--', 'false']);
  const held = [];
  for (let n = 0; n < 8; n += 1) held.push(await launchHeld(workspace, { options: ['--label', label] }));
  const page = await lookAtPage(workspace, ['--since', '0']);
  assert.doesNotMatch(page, /[\x00-\x09\x0b-\x1f\x7f]/);
  const counted = (heading: RegExp) => Number(heading.exec(page)?.[1]);
  assert.equal(counted(/fired since, the newest last \((\d+)\)/), 15);
  assert.equal(counted(/outstanding \((\d+)\)/), 8);
  assert.match(page, /left out: \d+ that fired, \d+ outstanding; see\n {4}.* status/);
  const document = await look(workspace, ['--since', '0']);
  assert.equal(document.fired.length + document.left_out.fired, 15);
  assert.equal(document.outstanding.length + document.left_out.outstanding, 8);
  for (const job of held) job.release();
});

test('what a job writes bends nothing: no end before its end, no event from the future, no number of its own', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const seq = job.events().length;
  const forged = [
    { seq: seq + 1, at: new Date().toISOString(), job: job.id, type: 'ended', state: 'done' },
    {
      seq: seq + 2,
      at: '2999-01-01T00:00:00.000Z',
      job: job.id,
      type: 'liveness',
      wake: ['attention'],
      reason: 'later',
    },
  ];
  appendFileSync(job.path('events.ndjson'), `${forged.map((one) => JSON.stringify(one)).join('\n')}\nnot json\n`);
  const page = await look(workspace);
  assert.deepEqual(
    page.fired.map(({ wake }) => wake),
    ['attention'],
  );
  assert.ok(page.next_seq <= Date.now());
  assert.equal((await look(workspace)).fired.length, 0);
  // A number that hides the end of a job.
  const [name = ''] = readdirSync(workspace.path('.job-state/looks'));
  const file = workspace.path('.job-state/looks', name);
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  stored.looks.at(-1).seq = Date.now() + 3_600_000;
  writeFileSync(file, JSON.stringify(stored));
  job.release();
  await eventually('its end', () => job.state().ended_at !== null);
  assert.ok((await look(workspace)).fired.some(({ id, wake }) => id === job.id && wake === 'terminal'));
  const beyond = await lookAtPage(workspace, ['--since', String(Date.now() + 3_600_000)]);
  assert.match(beyond, /! the number to start from lies in the future/);
  assert.match(beyond, new RegExp(`${job.id} {2}done`));
});

test('a folder that cannot be written, or that leads elsewhere, costs only the memory; without a state folder nothing is made', async (t) => {
  const workspace = makeWorkspace(t);
  const nothing = await lookAtPage(workspace);
  assert.match(nothing, /nothing was ever started here: there is no\s/);
  assert.throws(() => readdirSync(workspace.path('.job-state')));
  const job = await launchEnded(workspace, ['--', 'true']);
  symlinkSync(workspace.base, workspace.path('.job-state/looks'));
  const page = await look(workspace);
  assert.deepEqual([page.is_stored, page.fired[0]?.id], [false, job.id]);
  assert.deepEqual(readdirSync(workspace.base).sort(), ['home', 'work']);
  assert.match(await lookAtPage(workspace), /could not be stored: give the number/);
  for (const words of [['--since', '-1'], ['--since', '1.5'], ['--since', 'x'], ['extra']]) {
    const { code, stderr } = await run(workspace, ['reconcile', ...words]);
    assert.equal(code, 1);
    assert.match(stderr, /cannot take/);
  }
});

test('a damaged record is told to every owner, and does not hide the others', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace, { options: ['--owner', 'ann'] });
  const broken = await launchHeld(workspace, { options: ['--owner', 'ann'] });
  const child = broken.identity('child');
  await killSupervision(broken);
  await killNow('the child', child);
  const spec = broken.text('spec.json');
  writeFileSync(broken.path('spec.json'), '{');
  const page = await look(workspace, ['--owner', 'ann']);
  assert.deepEqual(page.outstanding.map(({ id }) => id).sort(), [held.id, broken.id].sort());
  assert.match(page.outstanding.find(({ id }) => id === broken.id)?.next ?? '', new RegExp(`doctor ${broken.id}$`));
  writeFileSync(broken.path('spec.json'), spec);
  assert.equal((await run(workspace, ['wait', broken.id])).code, 3);
  held.release();
});

function canUnshareMounts(): boolean {
  return (
    spawnSync('unshare', ['-m', 'mount', '--bind', '/proc/uptime', '/proc/sys/kernel/random/boot_id']).status === 0
  );
}

/** `reconcile --json` on a machine that says it was booted again. */
async function lookAfterRestart(workspace: Workspace): Promise<Page> {
  const boot = join(workspace.base, 'boot-id');
  writeFileSync(boot, '01234567-89ab-cdef-0123-456789abcdef\n');
  const script = 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"';
  const words = ['-m', 'sh', '-c', script, 'sh', boot, testNode(), builtFile, 'reconcile', '--json'];
  const child = spawn('unshare', words, {
    cwd: workspace.dir,
    env: workspace.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0);
  return JSON.parse(text) as Page;
}
