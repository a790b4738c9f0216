/**
 * Choosing and forms of `status`: whose jobs, which kinds, only live ones; the lanes as Markdown, in which a label stays text; and the tree
 * of what came from what, which records that lie cannot break.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { launch, launchHeld } from '../helpers/jobs.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

async function idsOf(workspace: Workspace, words: string[]): Promise<string[]> {
  const result = await run(workspace, ['status', '--json', ...words]);
  assert.equal(result.code, 0, result.stderr);
  return parseReply<{ jobs: { id: string }[] }>(result).jobs.map(({ id }) => id);
}

const ended = async (workspace: Workspace, words: string[]) => {
  const job = await launch(workspace, words);
  await eventually('its end', () => job.has('state.json') && job.state().ended_at !== null, { limitMs: 20_000 });
  return job.id;
};

test('by owner, kind and life, each alone and together; what there is not is refused with what there is', async (t) => {
  const workspace = makeWorkspace(t);
  const ann = await ended(workspace, ['--owner', 'ann', '--', 'true']);
  const timer = (await run(workspace, ['timer', 'in', '20m', '--owner', 'ann', '--id-only'])).stdout.trim();
  const held = await launchHeld(workspace, { options: ['--owner', 'bob'] });
  for (const [words, ids] of [
    [[], [held.id, timer, ann]],
    [
      ['--owner', 'ann'],
      [timer, ann],
    ],
    [['--kind', 'timer'], [timer]],
    [
      ['--kind', 'run'],
      [held.id, ann],
    ],
    [
      ['--kind', 'run,timer', '--active'],
      [held.id, timer],
    ],
    [['--active', '--owner', 'bob'], [held.id]],
    [['--kind', 'staff'], []],
    [['--kind', 'run', '--recent', '0'], [held.id]],
  ] as const)
    assert.deepEqual(await idsOf(workspace, [...words]), ids, words.join(' '));
  for (const [words, message] of [
    [['--kind', 'runs'], /cannot show jobs of kind "runs": allowed are staff, run, watch, timer, gate, loop/],
    [['--kind', 'run,'], /cannot show jobs of kind ""/],
    [['--active', '--recent', '3'], /cannot take --active and --recent together/],
    [['--tree', '--markdown'], /cannot take --markdown and --tree together/],
    [['--json', '--tree'], /cannot take --json and --tree together/],
    [[held.id, '--active'], /cannot take --active with the id of one job/],
  ] as const) {
    const { code, stderr, stdout } = await run(workspace, ['status', ...words]);
    assert.deepEqual([code, words.includes('--json' as never) ? '' : stdout], [1, '']);
    assert.match(stderr, message);
  }
  held.release();
  assert.equal((await run(workspace, ['cancel', timer])).code, 0);
});

test('the lanes as Markdown: nine cells in each row, the next command exact, a label that stays text', async (t) => {
  const workspace = makeWorkspace(t);
  const label = '](x) | `a` <img src=x> | **b** \\| \n# c \x1b[2J @all ~~d~~ $e$';
  const failed = await ended(workspace, ['--label', label, '--owner', 'ann|bob', '--', 'false']);
  const timer = (await run(workspace, ['timer', 'in', '20m', '--id-only'])).stdout.trim();
  const held = await launchHeld(workspace, { options: ['--label', 'long'] });
  const { code, stdout } = await run(workspace, ['status', '--markdown']);
  assert.equal(code, 0);
  assert.match(stdout, /^Jobs at \d{4}-.*Z \(local .*\), state in `.*\.job-state`\n\n\| id \| owner \| label \|/);
  const lines = stdout.trimEnd().split('\n').slice(2);
  assert.equal(lines.length, 5);
  const cellsOf = (line: string) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  for (const line of lines) assert.equal(cellsOf(line).length, 9, line);
  const rowOf = (id: string) => cellsOf(lines.find((line) => line.startsWith(`| ${id} |`)) ?? '');
  const row = rowOf(failed);
  assert.equal(row[1], 'ann\\|bob');
  assert.equal(
    row[2],
    '\\]\\(x\\) \\| \\`a\\` &lt;img src=x&gt; \\| \\*\\*b\\*\\* \\\\\\| \\# c \\@all \\~\\~d\\~\\~ \\$e\\$',
  );
  assert.deepEqual([row[3], row[4], row[5], row[7]], ['run', 'failed (exit\\_nonzero)', '-', '-']);
  assert.match(row[8] ?? '', new RegExp(`^\`.* result ${failed}\`$`));
  const live = rowOf(held.id);
  assert.deepEqual([live[2], live[4], live[5]], ['long', 'running', 'not judged yet']);
  assert.match(live[7] ?? '', /^23h59m/);
  assert.match(live[8] ?? '', new RegExp(` wait ${held.id} `));
  assert.match(rowOf(timer)[7] ?? '', /^due in 19m/);
  held.release();
  // Once it was read, there is nothing to do.
  assert.equal((await run(workspace, ['result', failed])).code, 3);
  const again = (await run(workspace, ['status', '--markdown'])).stdout;
  assert.match(again, new RegExp(`\\| ${failed} \\|.* \\| - \\|\n`));
  assert.equal((await run(workspace, ['cancel', timer])).code, 0);
});

test('the tree: a restarted job below its first, a job of a job below it, ancestors that are older than what is shown', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await ended(workspace, ['--label', 'first', '--', 'false']);
  const again = (await run(workspace, ['restart', first, '--id-only'])).stdout.trim();
  await eventually('its end', async () => (await run(workspace, ['status', again])).code === 3);
  const child = await ended(workspace, ['--owner', first, '--label', 'child', '--', 'true']);
  const orphan = await ended(workspace, ['--owner', 'run-loyw3v28-09az03', '--', 'true']);
  const { code, stdout } = await run(workspace, ['status', '--tree']);
  assert.equal(code, 0);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ {2,}\S+ {2}.*$/, ''));
  assert.deepEqual(lines, ['run-loyw3v28-09az03  (gone)', `\`- ${orphan}`, first, `|- ${child}`, `\`- ${again}`]);
  assert.match(stdout, new RegExp(`${again} {2}failed.* {2}restart`));
  const only = await run(workspace, ['status', '--tree', '--recent', '2']);
  assert.match(only.stdout, new RegExp(`^${first}.*\n\`- ${child}`, 'm'));
  for (const line of stdout.split('\n')) assert.ok(line.length <= 1000);
});
