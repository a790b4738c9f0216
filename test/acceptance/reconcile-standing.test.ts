/**
 * What `reconcile` tells again and again until it is settled, whatever was told before: open questions, results that nobody has read, who
 * waits for what; the jobs that the owner's jobs started; and that its sentences are whole on a terminal of 80 columns.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Job, launch, launchHeld } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

interface Document {
  questions: { id: string; state: string; file: string; answer: string; next: string | null }[];
  fired: { id: string; wake: string }[];
  outstanding: { id: string; is_awaited: boolean; started_by: string | null; next: string }[];
  not_read: { count: number; newest: string[]; next: string[] };
  next: { wait: string | null; idle_check: string };
}

async function page(workspace: Workspace, words: string[] = []): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, ['reconcile', ...words]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

const document = async (workspace: Workspace, words: string[] = []) =>
  parseReply<Document>(await run(workspace, ['reconcile', '--json', ...words]));

const ended = (job: Job) =>
  eventually('its end', () => job.has('state.json') && job.state().ended_at !== null, { limitMs: 30_000 });

const launchEnded = async (workspace: Workspace, words: string[]) => {
  const job = await launch(workspace, words);
  await ended(job);
  return job;
};

const folded = (text: string) => text.replace(/\s+/g, ' ');

test('a question of a live job is told each time until its answer is there; what is no question is not', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const dir = join(workspace.base, 'hand over');
  const go = join(workspace.base, 'go');
  const put = (name: string) => `printf x > "$JOB_HANDBACK/${name}";`;
  const names = ['00-declared.md', '01-questions.md', '02-blocked.md', 'status.md', '99-left.md'];
  staff.act(`${names.map(put).join(' ')} ${until(go)}; echo answer`);
  const job = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x']);
  await eventually('all are told', () => job.events('handback').length === 4, { limitMs: 30_000 });
  const files = async () => (await document(workspace)).questions.map(({ file }) => file);
  for (let n = 0; n < 2; n += 1) assert.deepEqual(await files(), [`${dir}/01-questions.md`, `${dir}/02-blocked.md`]);
  const text = await page(workspace);
  assert.match(text, /questions open \(2\):/);
  assert.ok(
    folded(text).includes(`question open: ${dir}/01-questions.md, answer into ${dir}/01-answer-questions.md`),
    text,
  );
  writeFileSync(join(dir, '01-answer-questions.md'), 'so');
  assert.deepEqual(await files(), [`${dir}/02-blocked.md`]);
  writeFileSync(join(dir, '02-answer-blocked.md'), 'so');
  assert.deepEqual(await files(), []);
  assert.doesNotMatch(await page(workspace), /questions? open/);
  writeFileSync(go, '');
  await ended(job);
  assert.deepEqual(await files(), []);
});

test('a question at the end of an answer is told each time, also when it was read, until its answer is there', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const dir = join(workspace.base, 'notes');
  staff.act(`printf q > "$JOB_HANDBACK/01-q.md"; printf 'I stop.\\nPARENT-QUESTION: 01-q.md\\n'`);
  const job = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x']);
  await ended(job);
  assert.ok(job.state().warnings.some(({ code }) => code === 'parent_question'));
  await run(workspace, ['result', job.id]);
  for (let n = 0; n < 3; n += 1) {
    const text = await page(workspace);
    assert.ok(folded(text).includes(`question open: ${dir}/01-q.md, answer into ${dir}/01-answer-q.md`), text);
    assert.match(text, new RegExp(`(continue --job|restart) ${job.id}`));
    assert.doesNotMatch(text, /1 warnings/);
  }
  const [one] = (await document(workspace)).questions;
  assert.deepEqual([one?.id, one?.state, one?.file], [job.id, 'done', `${dir}/01-q.md`]);
  assert.match(await page(workspace, ['--since', '0']), /\b1 warning\b/);
  writeFileSync(join(dir, '01-answer-q.md'), 'so');
  assert.deepEqual((await document(workspace)).questions, []);
});

test('a question that somebody went on from is no longer open; a file of before the job is none', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const dir = join(workspace.base, 'notes');
  staff.act(`printf q > "$JOB_HANDBACK/01-q.md"; printf 'PARENT-QUESTION: 01-q.md\\n'`);
  const job = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x']);
  await ended(job);
  assert.equal((await document(workspace)).questions.length, 1);
  const go = join(workspace.base, 'go');
  staff.act(`${until(go)}; echo answer`);
  const again = (await run(workspace, ['restart', job.id, '--id-only'])).stdout.trim();
  assert.match(again, /^staff/);
  assert.deepEqual((await document(workspace)).questions, []);
  writeFileSync(go, '');
  assert.equal((await run(workspace, ['wait', again])).code, 0);
});

test('what is outstanding says who waits for it, one command waits for all of it, and idle-check comes last', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  staff.act(`${until(go)}; echo answer`);
  const dir = join(workspace.base, 'notes');
  const agent = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x', '--owner', 'ann']);
  const held = await launchHeld(workspace, { options: ['--owner', 'ann'] });
  const third = await launchHeld(workspace, { options: ['--owner', 'ann'] });
  const waiting = start(workspace, ['wait', third.id, '--timeout', '30m']);
  await eventually(
    'the wait',
    async () => (await document(workspace)).outstanding.find(({ id }) => id === third.id)?.is_awaited,
  );
  const text = await page(workspace, ['--owner', 'ann']);
  assert.match(text, new RegExp(` wait ${agent.id} --until handback --timeout `));
  assert.match(text, new RegExp(` wait ${held.id} --timeout `));
  assert.equal(folded(text).split(/nobody waits(?! for)/).length, 3, text);
  assert.equal(folded(text).split('a wait holds it').length, 2, text);
  assert.match(text, new RegExp(` wait ${agent.id} ${held.id} --any --until handback --timeout .*\n`));
  assert.match(text, / idle-check --owner ann\n/);
  const { next } = await document(workspace, ['--owner', 'ann']);
  assert.match(next.wait ?? '', new RegExp(` wait ${agent.id} ${held.id} --any `));
  assert.match(next.idle_check, / idle-check --owner ann$/);
  waiting.kill('SIGTERM');
  await waiting.promise;
  writeFileSync(go, '');
  for (const job of [held, third]) job.release();
  assert.equal((await run(workspace, ['wait', agent.id])).code, 0);
});

test('what has ended and was not read is named with its command on every call', async (t) => {
  const workspace = makeWorkspace(t);
  const jobs = [];
  for (let n = 0; n < 6; n += 1) jobs.push(await launchEnded(workspace, ['--', 'true']));
  await page(workspace);
  for (let n = 0; n < 2; n += 1) {
    const text = await page(workspace);
    assert.match(text, /ended earlier and not read yet: 6/);
    for (const { id } of jobs.slice(1)) assert.match(text, new RegExp(` result ${id}\n`));
  }
  const { not_read } = await document(workspace);
  assert.equal(not_read.count, 6);
  assert.equal(not_read.next.length, 5);
  assert.match(not_read.next[0] ?? '', new RegExp(` result ${jobs[5]?.id}$`));
});

test("jobs that a job of the owner started are the owner's too, also in the tree", async (t) => {
  const workspace = makeWorkspace(t);
  const parent = await launchHeld(workspace, { options: ['--owner', 'ann'] });
  const child = await launchHeld(workspace, { options: ['--owner', parent.id] });
  const grandchild = await launchEnded(workspace, ['--owner', child.id, '--', 'false']);
  const other = await launchHeld(workspace, { options: ['--owner', 'bob'] });
  const seen = await document(workspace, ['--owner', 'ann']);
  assert.deepEqual(
    seen.outstanding.map(({ id, started_by }) => [id, started_by]),
    [
      [parent.id, null],
      [child.id, parent.id],
    ],
  );
  assert.deepEqual(
    seen.fired.map(({ id }) => id),
    [grandchild.id],
  );
  assert.match(folded(await page(workspace, ['--owner', 'ann'])), new RegExp(`started by ${parent.id}`));
  const { stdout } = await run(workspace, ['status', '--tree', '--owner', 'ann']);
  assert.match(stdout, new RegExp(`^${parent.id} .*\n\`- ${child.id} .*\n {3}\`- ${grandchild.id} .*\n$`));
  for (const job of [parent, child, other]) job.release();
});

test('no health is told of a job that nobody has judged yet', async (t) => {
  const workspace = makeWorkspace(t);
  const held = await launchHeld(workspace);
  assert.doesNotMatch(await page(workspace), /unknown/);
  const one = await run(workspace, ['status', held.id]);
  assert.match(one.stdout, /^health: +not judged yet$/m);
  assert.match((await run(workspace, ['status', '--markdown'])).stdout, /\| running \| not judged yet \|/);
  held.release();
});

test('sentences are broken and not cut, and no line of prose is longer than the terminal', async (t) => {
  const workspace = makeWorkspace(t);
  const owner = 'an owner with a long name';
  const job = await launchEnded(workspace, ['--owner', owner, '--', 'true']);
  await run(workspace, ['result', job.id], { env: { JOB_OWNER: owner } });
  await page(workspace, ['--owner', owner]);
  const text = await page(workspace, ['--owner', owner, '--since', '0']);
  assert.ok(folded(text).includes('another wake for it is a duplicate'), text);
  const help = (await run(workspace, ['reconcile', '--help'])).stdout;
  for (const line of [...text.split('\n'), ...help.split('\n')])
    if (!/ (reconcile|status|result|idle-check) /.test(line) && !line.includes(workspace.base))
      assert.ok(line.length <= 80, line);
});

test('status --active and its Markdown say that nothing lives, and that something has ended', async (t) => {
  const workspace = makeWorkspace(t);
  await launchEnded(workspace, ['--owner', 'ann', '--', 'true']);
  await launchEnded(workspace, ['--owner', 'bob', '--', 'true']);
  const said = async (...words: string[]) => (await run(workspace, ['status', ...words])).stdout;
  for (const form of [[], ['--markdown'], ['--tree'], ['--watch']])
    assert.match(await said('--active', ...form), /^no live jobs in .*\.job-state \(2 finished: status\)\n$/);
  assert.match(await said('--active', '--owner', 'ann'), /^no live jobs in .* \(1 finished: status --owner ann\)\n$/);
  assert.match(await said('--owner', 'eve'), /^no jobs of owner eve in .*\.job-state\n$/);
});
