/**
 * What a wait says to whoever only reads it: why it is over, how far the job is, which job it waits for, where jobs are looked for; and
 * that a notifier failed. Events are written as a worker writes them.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, launch, launchHeld } from '../helpers/jobs.ts';
import { hasTerminal, startOnTerminal } from '../helpers/terminal.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const judged = {
  elapsed_seconds: 60,
  state: 'unknown',
  attention_kind: null,
  phase: 'train',
  completed: 4,
  total: 10,
  eta_seconds: null,
  reason: 'first look',
  fingerprint: null,
};

function tell(job: Job, wake: string[], fields: object = {}): number {
  const seq = (job.events().at(-1)?.seq ?? 0) + 1;
  const line = { seq, at: new Date().toISOString(), job: job.id, owner: null, type: 'checkpoint', wake, ...fields };
  appendFileSync(job.path('events.ndjson'), `${JSON.stringify(line)}\n`);
  return seq;
}

test('a wake says why, what was decided, how far the job is, and how many checkpoints it folds', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--on-stall', 'cancel it\nand tell me'] });
  tell(job, ['checkpoint'], { ...judged, n: 1 });
  tell(job, ['checkpoint'], { ...judged, n: 2 });
  const alarm = { ...judged, n: 3, state: 'attention', reason: 'no \u001b[31mobservable\nchange', fingerprint: 'x' };
  const ask = ['wait', job.id, '--until', 'checkpoint', '--timeout', '1m'];
  const folded = await run(workspace, ask);
  assert.equal(folded.code, 2);
  const text = folded.stdout.slice(0, folded.stdout.lastIndexOf('\n', folded.stdout.length - 2));
  const document = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([document.skipped, document.pending_events], [1, 0]);
  assert.match(folded.stderr, /4\/10|40%/);
  assert.match(folded.stderr, /^reason: first look$/m);
  assert.doesNotMatch(folded.stderr, /^on stall/m);
  // Empty fields are only for programs.
  for (const name of ['label', 'ended_at', 'watch', 'warnings']) assert.equal(name in document, false, name);
  const json = parseReply(await run(workspace, [...ask, '--json']));
  assert.deepEqual([json.label, json.warnings, json.skipped], [null, [], 1]);

  tell(job, ['checkpoint', 'attention'], { ...alarm, on_stall: 'cancel it\nand tell me' });
  const woken = await run(workspace, ['wait', job.id, '--until', 'attention']);
  assert.match(woken.stderr, /^reason: no observable change$/m);
  assert.match(woken.stderr, /^on stall: cancel it and tell me$/m);
  job.release();
});

test('the end of patience says how far the job is; a person at a terminal gets the page', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--label', 'the long one'] });
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id, '--timeout', '0s']);
  assert.equal(code, 2);
  assert.match(stderr, new RegExp(`^${job.id}: running, \\d\\S*; not ended yet, wait again with the last line$`, 'm'));
  assert.match(stdout, /^\{\n/);
  assert.doesNotMatch(stdout, /^ "\w+": (null|\[\])/m);
  if (hasTerminal) {
    const terminal = startOnTerminal(workspace, ['wait', job.id, '--timeout', '0s']);
    assert.equal(await terminal.promise, 2);
    assert.match(terminal.output(), /^state: +running\r$/m);
    assert.match(terminal.output(), / wait run-\S+ --timeout 10m\s*$/);
    assert.doesNotMatch(terminal.output(), /"state"/);
  }
  job.release();
});

test('a bare wait says which of several live jobs it takes, and a timer does not hide a run', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await launchHeld(workspace);
  const alone = await run(workspace, ['wait', '--timeout', '0s']);
  assert.doesNotMatch(alone.stderr, /waiting for/);
  const second = await launchHeld(workspace);
  const two = await run(workspace, ['wait', '--timeout', '0s', '--json']);
  assert.equal(parseReply(two).id, second.id);
  assert.equal(two.stderr, `waiting for ${second.id}, the newest of 2 live jobs\n`);
  const timer = await run(workspace, ['timer', 'in', '1h', '--message', 'look', '--id-only']);
  assert.equal(timer.code, 0, timer.stderr);
  const past = await run(workspace, ['wait', '--timeout', '0s', '--json']);
  assert.equal(parseReply(past).id, second.id);
  assert.equal(past.stderr, `waiting for ${second.id}, the newest of 3 live jobs (timers aside)\n`);
  assert.equal(parseReply(await run(workspace, ['observe'])).id, second.id);
  for (const job of [first, second]) {
    job.release();
    await eventually('its end', () => job.state().state === 'done', { limitMs: 20_000 });
  }
  // Alone it is the newest, as ever.
  await eventually('the timer to be the only live one', async () => {
    const id = parseReply(await run(workspace, ['wait', '--timeout', '0s', '--json'])).id;
    return id === timer.stdout.trim();
  });
  await run(workspace, ['cancel', timer.stdout.trim()]);
});

test('where no state folder is, a reader says so and where to look', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('empty'));
  for (const words of [['wait', 'run-mik3x9ab-4f7q2z'], ['observe', 'run-mik3x9ab-4f7q2z'], ['wait'], ['result']]) {
    const { code, stderr } = await run(workspace, [...words, '--state-dir', workspace.path('empty', 'none')]);
    assert.equal(code, 1);
    assert.match(stderr, /there is no state folder .*empty\/none\n.*per worktree.*--state-dir DIR/);
  }
});

test('a notifier that fails is told by status, result and doctor, in its own words alone', async (t) => {
  const workspace = makeWorkspace(t);
  const broken = workspace.path('broken-notifier');
  writeFileSync(broken, '#!/no/such-interpreter\n', { mode: 0o755 });
  const cases: [string[], RegExp][] = [
    [['/bin/sh', '-c', 'echo no route >&2; exit 9'], /failed \(end: code 9, no route\)$/m],
    [[broken], /failed \(end: code 12[67], [^\n]*broken-notifier: [^\n]*\)$/m],
  ];
  for (const [notifier, words] of cases) {
    const started = await launch(workspace, ['--notify', JSON.stringify(notifier), '--', 'true']);
    const job = findJob(workspace, started.id);
    await eventually('the notice', () => job.events('notified').length > 0, { limitMs: 20_000 });
    for (const ask of ['status', 'result', 'doctor']) {
      const { stdout, stderr } = await run(workspace, [ask, job.id]);
      assert.match(stdout + stderr, new RegExp(words.source.replace('$', ''), 'm'), ask);
      assert.doesNotMatch(stdout + stderr, /exec:|notices/);
    }
    assert.match((await run(workspace, ['status', job.id])).stdout, new RegExp(`^notify: +${words.source}`, 'm'));
    assert.match((await run(workspace, ['result', job.id])).stderr, new RegExp(`^notify: ${words.source}`, 'm'));
  }
  const fine = await launch(workspace, ['--notify', '["/bin/true"]', '--', 'true']);
  await eventually('the notice', () => fine.events('notified').length > 0, { limitMs: 20_000 });
  assert.doesNotMatch((await run(workspace, ['status', fine.id])).stdout, /^notify:/m);
});

test('the help says what is folded, what "!" means, and when something is printed', async (t) => {
  const workspace = makeWorkspace(t);
  const [wait, status] = await Promise.all(
    ['wait', 'status'].map(async (verb) => (await run(workspace, [verb, '--help'])).stdout.replace(/\s+/g, ' ')),
  );
  assert.match(wait ?? '', /Older checkpoints are folded into the newest/);
  assert.match(wait ?? '', /attention and news never are/);
  assert.match(wait ?? '', /on a terminal each stands below a line "== ID: STATE =="/);
  assert.match(status ?? '', /print it once, when no job is live any more/);
  assert.match(status ?? '', /"!" \(running!\) means that the job needs attention/);
});
