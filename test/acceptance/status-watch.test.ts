/**
 * `status --watch` and the line of a `wait` as a person sees them: drawn in place on a terminal of any width, over by itself, nothing left
 * changed after Ctrl-C; and silent on a pipe until the end.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { launch, launchHeld } from '../helpers/jobs.ts';
import { hasTerminal, startOnTerminal } from '../helpers/terminal.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const skip = hasTerminal ? false : 'needs script of util-linux';
const drawings = (output: string) => output.split('\x1b[?7l').slice(1);
const linesOf = (text: string) =>
  text
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
    .split(/\r?\n/)
    .map((line) => line.replaceAll('\r', ''));
const limit = { limitMs: 30_000 };

test('on a pipe it is silent until no job lives, and then prints the table once', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--label', 'held'] });
  const watching = start(workspace, ['status', '--watch']);
  const other = await launch(workspace, ['--', 'false']);
  await run(workspace, ['wait', other.id]);
  assert.equal(watching.stdout(), '');
  job.release();
  const { code, stdout, stderr } = await watching.promise;
  assert.deepEqual([code, stderr], [0, '']);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ +/).slice(0, 2));
  assert.deepEqual(rows, [
    ['ID', 'STATE'],
    [other.id, 'failed'],
    [job.id, 'done'],
  ]);
  assert.doesNotMatch(stdout, /\x1b/);
});

test('of one job it is over with that job, and gives its code; without any job it is over at once', async (t) => {
  const workspace = makeWorkspace(t);
  assert.match((await run(workspace, ['status', '--watch'])).stdout, /^no jobs in /);
  const held = await launchHeld(workspace);
  const failed = await launch(workspace, ['--', 'false']);
  const { code, stdout } = await run(workspace, ['status', failed.id, '--watch']);
  assert.equal(code, 3);
  assert.doesNotMatch(stdout, new RegExp(held.id));
  held.release();
});

test('what cannot be meant is refused', async (t) => {
  const workspace = makeWorkspace(t);
  for (const [words, message] of [
    [['--every', '2s'], /cannot take --every without --watch/],
    [['--watch', '--json'], /cannot take --watch and --json together/],
    [['--watch', '--every', '100ms'], /out of range; allowed: 1s to/],
  ] as const) {
    const { code, stderr } = await run(workspace, ['status', ...words]);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
});

test('on a terminal it is drawn again in the same place, no line reaches the edge, and ends by itself', {
  skip,
}, async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace, { options: ['--label', `wide ${'\u6f22'.repeat(60)}`] });
  const seen = startOnTerminal(workspace, ['status', '--watch']);
  await eventually('three drawings', () => drawings(seen.output()).length >= 3, limit);
  const [first = '', second = ''] = drawings(seen.output());
  assert.match(first, new RegExp(`1 live.*${job.id}`, 's'));
  // Up by as many lines as were drawn.
  const height = linesOf(first.split('\x1b[J')[0] ?? '').length - 1;
  assert.ok(first.endsWith(`\r\x1b[${height}A`), JSON.stringify(first.slice(-40)));
  assert.match(second, /\x1b\[36m running/);
  for (const line of linesOf(seen.output())) {
    const columns = [...line].reduce((sum, char) => sum + (char > '\u2fff' ? 2 : 1), 0);
    assert.ok(columns < 80, `${columns} columns: ${line}`);
  }
  // Narrower at once, not at the next round.
  const before = drawings(seen.output()).length;
  await seen.resize(50);
  await eventually(
    'a narrow drawing',
    () =>
      drawings(seen.output())
        .slice(before)
        .some((one) => linesOf(one).every((line) => line.length < 50)),
    limit,
  );
  job.release();
  assert.equal(await seen.promise, 0);
  // What was drawn is taken away first: the last table stands alone.
  assert.match(seen.output(), /\r\x1b\[\d+A\x1b\[JID /);
  const end = seen.output().split('\x1b[J').at(-1) ?? '';
  assert.match(linesOf(end).join('\n'), new RegExp(`^ID +STATE +TIME.*\n${job.id} +done`));
});

test('Ctrl-C ends it by the signal, leaves the jobs alone and the terminal as it was; NO_COLOR takes the colours', {
  skip,
}, async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchHeld(workspace);
  const seen = startOnTerminal(workspace, ['status', '--watch'], { env: { NO_COLOR: '1' } });
  await eventually('a drawing', () => drawings(seen.output()).length >= 2, limit);
  seen.type('\x03');
  assert.equal(await seen.promise, 130);
  const { before, after } = seen.settings();
  assert.equal(after, before);
  const settings = [...seen.output().matchAll(/\x1b\[\?(\d+)([hl])/g)].map(([, name, to]) => `${name}${to}`);
  assert.equal(settings.at(-1), '7h');
  assert.doesNotMatch(seen.output(), /\x1b\[[0-9;]*m/);
  assert.equal(job.state().state, 'running');
  job.release();
});

test('a wait shows one line on a terminal, with the bar of the newest checkpoint, and takes it away at the end', {
  skip,
}, async (t) => {
  const workspace = makeWorkspace(t);
  const probe = `echo '{"completed": 3, "total": 4, "phase": "second half"}'`;
  const job = await launchHeld(workspace, {
    options: ['--checkpoint-every', '300ms', '--sample-every', '100ms', '--probe', probe],
  });
  const seen = startOnTerminal(workspace, ['wait', job.id], { columns: 100 });
  await eventually(
    'the bar',
    () => /: running, .*\[#{7,8}-+\] +75%, .*second half/.test(seen.output().split('\r\x1b[K').at(-1) ?? ''),
    limit,
  );
  assert.doesNotMatch(seen.output(), /\n/);
  job.release();
  assert.equal(await seen.promise, 0);
  assert.match(seen.output(), new RegExp(`\r\x1b\\[K${job.id}: done, exit code 0`));
});
