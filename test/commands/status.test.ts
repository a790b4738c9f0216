// The table and the page of `status`: which agent, how long ago, and what an agent said last instead of the events of its stream.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Context } from '../../companion/src/commands/command.ts';
import { parseCommand } from '../../companion/src/commands/parse.ts';
import { status } from '../../companion/src/commands/status.ts';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState, staffChange } from '../store/job-record.ts';

type Files = Parameters<typeof makeJob>[1];

const launch = { worker: ownIdentity(), generation: 1 };
const staff = { ...staffChange.staff!, model: 'gpt-5.1', profile: 'restricted' as const };
const staffSpec = (change: Partial<Spec> = {}) => makeSpec({ ...staffChange, staff, ...change });
const hour = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const done = (change: Partial<JobState> = {}) =>
  makeState({ state: 'done', ended_at: ago(3.5 * hour), duration_ms: 125_000, exit_code: 0, ...change });
const liveId = 'implement-loyw3v29-09az03';

async function ask(root: string, width: number, ...words: string[]): Promise<{ out: string; json: unknown }> {
  const context = { isTerminal: false, width, root: () => ({ folder: root, option: [] }) } as unknown as Context;
  const { out = '', json } = await status.run(context, parseCommand(status, words));
  return { out: String(out), json };
}

function makeJobs(t: TestContext): string {
  const { root } = makePlace(t);
  makeJob(root, { spec: makeSpec({ owner: 'builder of things' }), state: done() });
  const spec = staffSpec({ id: liveId, owner: 'builder of things' });
  const started = ago(90_000);
  const state = makeState({ id: liveId, created_at: started, started_at: started });
  makeJob(root, { spec, state, launch }, { id: liveId, isActive: true });
  return root;
}

test('the table has how long a job took, how long ago it ended, and which agent with which rights and model', async (t) => {
  const { out } = await ask(makeJobs(t), 1000);
  const [head, live, ended] = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  assert.deepEqual(head, ['ID', 'STATE', 'TIME', 'ENDED', 'OWNER', 'BACKEND', 'PROFILE', 'MODEL', 'WHAT']);
  assert.match(live?.[2] ?? '', /^1m3\ds$/);
  assert.deepEqual([...(live ?? [])].slice(3), [
    '-',
    'builder of th\u2026',
    'codex',
    'restricted',
    'gpt-5.1',
    'the task',
  ]);
  assert.deepEqual(ended?.slice(1), ['done', '2m5s', '3h ago', 'builder of th\u2026', '-', '-', '-', 'true']);
});

test('at 80 columns what does not fit goes, and no line is longer', async (t) => {
  const lines = (await ask(makeJobs(t), 80)).out.trimEnd().split('\n');
  assert.ok(
    lines.every((line) => line.length <= 80),
    lines.join('\n'),
  );
  assert.match(lines[0] ?? '', /^ID +STATE +TIME +ENDED +BACKEND +WHAT$/);
  assert.match(lines[1] ?? '', / codex +the task$/);
});

test('columns that say nothing make room for what a job is about', async (t) => {
  const { root } = makePlace(t);
  makeJob(root, { spec: makeSpec({ label: 'w'.repeat(60) }), state: done() });
  assert.match((await ask(root, 80)).out, /^ID +STATE +TIME +ENDED +WHAT\n/);
  assert.match((await ask(root, 120)).out, /^ID +STATE +TIME +ENDED +OWNER +BACKEND +WHAT\n.* w{60}\n$/);
});

test('the documents of a staff job say which agent; of a command they say null', async (t) => {
  const root = makeJobs(t);
  const { jobs } = (await ask(root, 80, '--json')).json as { jobs: Record<string, unknown>[] };
  const agent = ({ backend, profile, model }: Record<string, unknown>) => [backend, profile, model];
  assert.deepEqual(jobs.map(agent), [
    ['codex', 'restricted', 'gpt-5.1'],
    [null, null, null],
  ]);
  assert.deepEqual(agent((await ask(root, 80, liveId, '--json')).json as Record<string, unknown>), [
    'codex',
    'restricted',
    'gpt-5.1',
  ]);
});

async function page(t: TestContext, files: Files): Promise<string> {
  const { root } = makePlace(t);
  makeJob(root, files);
  return (await ask(root, 80, jobId)).out;
}

const stream = '{"type":"thread.started","secret":"stream"}\n';

test('the page of a live agent has its latest calls and text, and no events', async (t) => {
  const snapshot = {
    tools: [{ n: 1, name: 'shell', input: 'ls -l', output: 'a', status: 'done' }, null, { name: 5 }],
    text: 'looking\x1b[31m around',
  };
  const files = { spec: staffSpec(), state: makeState(), launch, output: stream, error: 'retrying\n', snapshot };
  const out = await page(t, files);
  assert.match(out, /^backend: +codex, profile restricted, model gpt-5\.1$/m);
  assert.match(out, /\n\n- shell ls -l \[done\]\n\nlooking around\n\nretrying\n$/);
  assert.doesNotMatch(out, /thread\.started|secret/);
});

test('the page of an ended agent ends with its answer or report, and has no events', async (t) => {
  const state = done({ warnings: [{ code: 'x', message: 'y' }] });
  const out = await page(t, { spec: staffSpec(), state, output: stream, result: 'the answer' });
  assert.match(out, /^time: +2m5s, ended 3h ago$/m);
  assert.match(out, /\n\nthe answer\n$/);
  assert.doesNotMatch(out, /secret/);
});

test('the page of a program of your own, live, and of a command has its output', async (t) => {
  const custom = { ...staff, backend: 'custom', custom: { name: 'mine', argv: ['x'], prompt: 'stdin' as const } };
  const out = await page(t, { spec: staffSpec({ staff: custom }), state: makeState(), launch, output: 'so far\n' });
  assert.match(out, /^backend: +mine, profile/m);
  assert.match(out, /\n\nso far\n$/);
  assert.match(await page(t, { spec: makeSpec(), state: done(), output: 'whole\n', result: 'cut' }), /\n\nwhole\n$/);
});
