/**
 * S2, children that hand work back: what they are told, how they ask, and what their words are worth.
 */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { claim, verify } from '../../helpers/claims.ts';
import { parseReply, run, start } from '../../helpers/companion.ts';
import { eventually } from '../../helpers/eventually.ts';
import { findJob, type Job, untilStarted } from '../../helpers/jobs.ts';
import { makeStaff, until } from '../../helpers/staff.ts';
import { launchWatch } from '../../helpers/watches.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

/** A child that runs until it is let go, with a folder for what it hands back. */
async function makeDesk(t: TestContext, answer = 'echo answer') {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const dir = join(workspace.base, 'handback');
  const go = join(workspace.base, 'go');
  mkdirSync(dir);
  const release = () => writeFileSync(go, '');
  workspace.defer(release);
  staff.act(`${until(go)}; ${answer}`);
  const job = await staff.launch('implement', ['--handback', dir, '--prompt', 'Do it.']);
  await untilStarted(job);
  const put = (name: string, text = 'words\n') => {
    writeFileSync(join(dir, `.${name}.new`), text);
    renameSync(join(dir, `.${name}.new`), join(dir, name));
  };
  return { workspace, staff, dir, job, release, put };
}

const names = (job: Job) => job.events('handback').map(({ name }) => name);

test('S2.19 the brief of every mode, of a follow-up and of a restart holds the rules for a child', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const rules = [/Nobody can answer questions/, /When your turn ends, every process/, /NOT FINISHED:/];
  for (const verb of ['staffer', 'research', 'implement']) {
    const job = await staff.launch(verb);
    assert.equal((await run(workspace, ['wait', job.id])).code, 0);
    for (const rule of rules) assert.match(staff.brief(job.id), rule, verb);
    assert.match(staff.brief(job.id), /^<task>\nDo it\.\n<\/task>$/m);
    const again = (await run(workspace, ['restart', job.id, '--id-only'])).stdout.trim();
    assert.equal((await run(workspace, ['wait', again])).code, 0);
    for (const rule of rules) assert.match(staff.brief(again), rule, `restart of ${verb}`);
  }
});

test('S2.20 the brief names the job, the folder for handing back, the order of its files and the last of them', async (t) => {
  const { staff, job, dir, release, workspace } = await makeDesk(t);
  const brief = staff.brief(job.id);
  for (const words of [job.id, dir, '00-declared.md', '99-left.md', 'complete.md', 'FROZEN', 'status.md'])
    assert.ok(brief.includes(words), `${words} is not in ${brief}`);
  release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.66 a review ends with a state and a result file, and the file alone is no end', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  staff.act(`${until(go)}; echo 'No findings.'`);
  const job = await staff.launch('review');
  await untilStarted(job);
  const early = await run(workspace, ['wait', job.id, '--timeout', '200ms']);
  assert.equal(early.code, 2);
  writeFileSync(go, '');
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, stdout.trim(), job.text('result.md').trim()], [0, 'No findings.', 'No findings.']);
  assert.equal(job.state().state, 'done');
});

test('S2.76 an answer that begins with NOT FINISHED: is done with a warning that every reader shows', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(`echo 'NOT FINISHED: the second half is missing'`);
  const job = await staff.launch('staffer');
  const wait = await run(workspace, ['wait', job.id]);
  assert.deepEqual([wait.code, job.state().warnings.map(({ code }) => code)], [0, ['not_finished']]);
  for (const { stderr } of [wait, await run(workspace, ['result', job.id])]) assert.match(stderr, /not finished/);
  assert.match((await run(workspace, ['observe', job.id])).stdout, /not_finished/);
  staff.act(`echo 'All is well, nothing is NOT FINISHED: really'`);
  const other = await staff.launch('staffer');
  assert.equal((await run(workspace, ['wait', other.id])).code, 0);
  assert.deepEqual(other.state().warnings, []);
});

test('S2.79 a new ordered file wakes a wait for it with its name, once, and the job goes on', async (t) => {
  const { workspace, job, put, release } = await makeDesk(t);
  const ask = (...words: string[]) =>
    start(workspace, ['wait', job.id, '--until', 'handback', '--json', '--timeout', '50s', ...words]).promise;
  let seq = 0;
  for (const name of ['01-questions.md', '02-batch-ready.md']) {
    const woken = ask('--after-seq', `${seq}`);
    put(name);
    const result = await woken;
    const told = parseReply<{ wake: string; event: { name: string }; next_seq: number }>(result);
    assert.deepEqual([result.code, told.wake, told.event.name], [2, 'handback', name]);
    seq = told.next_seq;
  }
  assert.equal(job.state().state, 'running');
  release();
  // Nothing is told twice: the next wake is the end.
  assert.equal((await ask('--after-seq', `${seq}`)).code, 0);
});

test('S2.80 a status file and names of another form wake nobody; the answer of the caller neither', async (t) => {
  const { workspace, job, put, release } = await makeDesk(t);
  for (const name of ['status.md', '1-x.md', 'notes.md', '01-x.txt', '01-answer-questions.md', '001-x.md']) put(name);
  put('02-ready.md');
  await eventually('the one that counts', () => names(job).length > 0, { limitMs: 30_000 });
  for (const round of [1, 2, 3]) put('status.md', `${round}\n`);
  put('03-more.md');
  await eventually('the next', () => names(job).length > 1, { limitMs: 30_000 });
  assert.deepEqual(names(job), ['02-ready.md', '03-more.md']);
  release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.81 a question in the last line is told with its file, the same words anywhere else are not', async (t) => {
  const question = 'PARENT-QUESTION: 01-questions.md';
  const asked = await makeDesk(t, `printf 'Text.\\n${question}\\n'`);
  asked.release();
  assert.equal((await run(asked.workspace, ['wait', asked.job.id])).code, 0);
  const [warning] = asked.job.state().warnings.filter(({ code }) => code === 'parent_question');
  assert.match(warning?.message ?? '', /01-questions\.md/);
  for (const text of [`${question}\\nand more`, `as in: ${question}`, `${question} or so`]) {
    asked.staff.act(`printf '${text}\\n'`);
    const job = await asked.staff.launch('implement', ['--handback', asked.dir, '--prompt', question]);
    assert.equal((await run(asked.workspace, ['wait', job.id])).code, 0);
    assert.ok(!job.state().warnings.some(({ code }) => code === 'parent_question'), text);
  }
});

test('S2.83 a completion file ends nothing, only the process does; a commit is seen by a watch of its branch', async (t) => {
  const { workspace, job, put, release } = await makeDesk(t);
  const watch = await launchWatch(workspace, ['git', 'main', '--moves', '--every', '1s', '--for', '1h']);
  put('99-left.md');
  put('complete.md', 'All of it.\nFROZEN\n');
  await eventually('the note', () => names(job).length > 0, { limitMs: 30_000 });
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '500ms'])).code, 2);
  assert.deepEqual([job.state().state, names(job)], ['running', ['99-left.md']]);
  workspace.git('commit', '-q', '--allow-empty', '-m', 'Work');
  assert.equal((await run(workspace, ['wait', watch.id, '--timeout', '50s'])).code, 0);
  release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
});

test('S2.101 a completion block comes back as JSON, and what is none has its kind of fault', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const ask = async (text: string) => {
    staff.act(text);
    const { stdout } = await staff.staff('staffer', ['--prompt', 'x', '--json']);
    return run(workspace, ['result', findJob(workspace, JSON.parse(stdout).id).id, '--claims']);
  };
  const good = await ask(claim({ commits: [] }));
  assert.equal(good.code, 0, good.stderr);
  assert.deepEqual(parseReply<{ status: string; schema: string }>(good).schema, 'pi-completion/v1');
  const fence = '```';
  const faults = [
    ['NO_BLOCK', 'echo nothing'],
    ['UNCLOSED_FENCE', `printf '%s\\n' 'x' '${fence}completion' '{'`],
    ['MALFORMED_JSON', `printf '%s\\n' 'x' '${fence}completion' '{' '${fence}'`],
    ['SCHEMA_VIOLATION', claim({ status: 'perfect' })],
    [
      'OVERSIZED_BLOCK',
      `echo x; echo '${fence}completion'; head -c 70000 /dev/zero | tr '\\0' x; echo; echo '${fence}'`,
    ],
  ] as const;
  for (const [kind, text] of faults) {
    const { code, stdout, stderr } = await ask(text);
    assert.equal(code, 3, kind);
    assert.ok((stdout + stderr).includes(kind), `${kind}: ${stdout}${stderr}`);
  }
});

test('S2.102 a claim that git bears out is verified, one that it does not is contradicted, and tests run on the caller’s word only', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const ran = join(workspace.base, 'ran');
  const fields = { filesChanged: ['a.txt'], tests: [{ name: `touch ${ran}`, result: 'pass' }] };
  staff.act(`echo one >a.txt; git add a.txt; git commit -q -m 'Add a'; NEW=$(git rev-parse HEAD)
${claim({ ...fields, commits: [{ sha: '$NEW', subject: 'Add a', repo: workspace.dir }] })}`);
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const index = workspace.git('ls-files', '--stage', '--debug');
  const found = await verify(workspace, job.id);
  assert.deepEqual([found.code, found.verdict], [0, 'verified']);
  assert.ok(found.rows.includes('file a.txt: verified') && found.rows.some((row) => row.endsWith(': recorded')));
  assert.equal(workspace.git('ls-files', '--stage', '--debug'), index);
  const failed = await verify(workspace, job.id, ['--rerun', 'false']);
  assert.deepEqual([failed.code, failed.verdict], [3, 'contradicted']);
  staff.act(
    claim({ commits: [{ sha: '0123456789012345678901234567890123456789', subject: 'x', repo: workspace.dir }] }),
  );
  const liar = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', liar.id])).code, 0);
  assert.deepEqual(
    [(await verify(workspace, liar.id)).code, (await verify(workspace, liar.id)).verdict],
    [3, 'contradicted'],
  );
});
