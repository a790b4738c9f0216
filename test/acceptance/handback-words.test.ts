/**
 * What is proposed to the caller of a job that hands files back: a wait that is woken by them, the name of an answer, and the way on after
 * a question, with a conversation and without one.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseReply, type RunResult, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, untilStarted } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

type Next = { next: Record<string, string> };

function makeDesk(t: TestContext) {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const dir = join(workspace.base, 'hand');
  const go = join(workspace.base, 'go');
  const release = () => writeFileSync(go, '');
  workspace.defer(release);
  const call = (...words: string[]) => run(workspace, words);
  const launch = ['staffer', '--profile', 'standard', '--handback', dir, '--prompt', 'x'];
  return { workspace, staff, dir, go, release, call, launch };
}

const lastLine = ({ stdout }: RunResult) => stdout.trimEnd().split('\n').at(-1) ?? '';

test('every command that is proposed for a live job with a hand-back folder is woken by what is handed back', async (t) => {
  const { workspace, staff, dir, go, release, call, launch } = makeDesk(t);
  staff.act(`${until(go)}; echo answer`);
  const launched = await call(...launch);
  const id = /^job (\S+)$/m.exec(launched.stdout)?.[1] ?? '';
  const waitOn = new RegExp(` wait ${id} --until handback --timeout 10m$`, 'm');
  assert.match(launched.stdout, new RegExp(`^collect: .* wait ${id} --until handback --timeout 10m$`, 'm'));
  const job = findJob(workspace, id);
  await untilStarted(job);
  for (const words of [
    ['status', id],
    ['wait', id, '--timeout', '0s'],
    ['result', id],
    ['verify', id],
  ]) {
    const { stdout, stderr } = await call(...words);
    assert.match(`${stdout}${stderr}`, waitOn, words.join(' '));
  }
  assert.match(parseReply<Next>(await call('observe', id)).next.wait ?? '', waitOn);
  assert.match(parseReply<Next>(await call('wait', id, '--timeout', '0s', '--json')).next.wait ?? '', waitOn);

  // From a cursor of the reader's own on, and from there nothing wakes twice.
  writeFileSync(join(dir, '01-q.md'), 'q');
  await eventually('the file to be told', () => job.events('handback').length === 1);
  const after = job.events('handback')[0]?.seq ?? 0;
  const seen = parseReply<Next & { next_seq: number }>(await call('observe', id, '--after-seq', '1'));
  assert.ok(seen.next_seq >= after);
  assert.match(seen.next.wait ?? '', new RegExp(` wait ${id} --until handback --after-seq ${seen.next_seq} --timeout`));

  // With others, and for whoever asked for something else.
  const other = await call('run', '--id-only', '--kill-after', '0s', '--', 'sleep', '600');
  const both = [id, other.stdout.trim()];
  assert.match(lastLine(await call('wait', ...both, '--all', '--timeout', '0s')), / --all --until handback --timeout/);
  for (const asked of ['attention', 'terminal'])
    assert.match(
      lastLine(await call('wait', id, '--until', asked, '--timeout', '0s')),
      new RegExp(` wait ${id} --until ${asked} `),
    );
  assert.doesNotMatch(lastLine(await call('wait', both[1] ?? '', '--timeout', '0s')), /until/);
  assert.equal((await call('cancel', both[1] ?? '')).code, 0);
  release();
  assert.equal((await call('wait', id)).code, 0);
  assert.doesNotMatch((await call('status', id)).stdout, /until handback/);
});

test('a question without a conversation to go on in: restart is proposed, and where the answer belongs', async (t) => {
  const { staff, dir, call, launch, workspace } = makeDesk(t);
  staff.act(`[ -e "$JOB_HANDBACK/01-answer-q.md" ] && exec cat "$JOB_HANDBACK/01-answer-q.md"
echo q >"$JOB_HANDBACK/01-q.md"; echo "PARENT-QUESTION: 01-q.md"`);
  const asked = await call(...launch, '--wait');
  const [id = ''] = readdirSync(workspace.path('.job-state/jobs'));
  const on = new RegExp(`^go on: .* restart ${id}$`, 'm');
  for (const { stderr } of [asked, await call('result', id)]) {
    assert.match(stderr, on);
    assert.match(
      stderr,
      new RegExp(`^note: it left no conversation .*put the answer into the hand-back folder ${dir} `, 'm'),
    );
    assert.doesNotMatch(stderr, / continue --job/);
  }
  for (const words of [
    ['observe', id],
    ['result', id, '--json'],
    ['wait', id, '--json'],
  ]) {
    const told = parseReply<Next & { going_on: string }>(await call(...words));
    assert.match(told.next.restart ?? '', new RegExp(` restart ${id}$`), words.join(' '));
    assert.equal(told.next.continue, undefined);
    assert.match(told.going_on, /put the answer into the hand-back folder/);
  }
  // As it is told: the answer, then the command.
  writeFileSync(join(dir, '01-answer-q.md'), 'blue\n');
  assert.equal((await call('restart', id, '--wait')).stdout, 'blue\n');

  staff.act('echo "NOT FINISHED: no key"');
  const open = await call('staffer', '--profile', 'standard', '--prompt', 'x', '--wait');
  assert.match(
    open.stderr,
    /^note: it left no conversation .*: what is missing belongs into the task of a new launch$/m,
  );
  assert.match(open.stderr, /^go on: .* restart staffer-\S+$/m);
});

test('a question of an agent with a conversation: continue is proposed, by all alike', async (t) => {
  const { workspace, dir } = makeDesk(t);
  const lines = [
    { type: 'thread.started', thread_id: 't1' },
    { type: 'item.completed', item: { type: 'agent_message', text: 'Which?\n\nPARENT-QUESTION: 01-q.md' } },
    { type: 'turn.completed' },
  ];
  const stream = lines.map((line) => JSON.stringify(line)).join('\n');
  const script = `#!/bin/sh
case $1 in --version) echo 'codex-cli 0.171.0'; exit ;; esac
cat >/dev/null
echo q >"$JOB_HANDBACK/01-q.md"
cat <<'END'
${stream}
END
`;
  writeFileSync(join(workspace.home, 'codex'), script, { mode: 0o755 });
  const env = { PATH: `${workspace.home}:${workspace.env.PATH}` };
  const words = ['staffer', '--backend', 'codex', '--handback', dir, '--prompt', 'x', '--wait'];
  const asked = await run(workspace, words, { env });
  const [id = ''] = readdirSync(workspace.path('.job-state/jobs'));
  const command = new RegExp(` continue --job ${id} --prompt `);
  for (const { stderr } of [asked, await run(workspace, ['result', id])]) {
    assert.match(stderr, /put the answer into \S+\/01-answer-q\.md/);
    assert.match(stderr, new RegExp(`^go on: .*${command.source}`, 'm'));
    assert.doesNotMatch(stderr, / restart /);
  }
  for (const verb of [
    ['observe', id],
    ['result', id, '--json'],
  ]) {
    const told = parseReply<Next & { going_on: null }>(await run(workspace, verb));
    assert.match(told.next.continue ?? '', command);
    assert.deepEqual([told.next.restart, told.going_on], [undefined, null]);
  }
});

test('no answer is named for what asks nothing', async (t) => {
  const { workspace, staff, dir, go, release, call } = makeDesk(t);
  staff.act(`${until(go)}; echo answer`);
  const job = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x']);
  await untilStarted(job);
  const wake = (...more: string[]) => call('wait', job.id, '--until', 'handback', '--timeout', '60s', ...more);
  writeFileSync(join(dir, '00-declared.md'), 'a');
  const declared = await wake();
  assert.match(declared.stderr, /^handed back: \S+\/00-declared\.md/m);
  assert.doesNotMatch(declared.stderr, /an answer goes into/);
  writeFileSync(join(dir, '01-colour.md'), 'which?');
  const seq = String(job.events('handback')[0]?.seq);
  assert.match((await wake('--after-seq', seq)).stderr, /an answer goes into: \S+\/01-answer-colour\.md$/m);
  release();
  assert.equal((await call('wait', job.id)).code, 0);
  assert.ok(existsSync(join(dir, '00-declared.md')), workspace.base);
});

test('files of an earlier job are told as such, and its complete.md freezes nothing', async (t) => {
  const { workspace, staff, dir, go, release, call } = makeDesk(t);
  mkdirSync(dir, { mode: 0o700 });
  for (const name of ['01-a.md', '02-b.md', 'complete.md']) writeFileSync(join(dir, name), 'FROZEN\n');
  staff.act(`${until(go)}; echo answer`);
  const job = await staff.launch('staffer', ['--handback', dir, '--prompt', 'x']);
  await untilStarted(job);
  const page = await call('status', job.id);
  assert.match(page.stdout, new RegExp(`^hand-back: +nothing new yet in ${dir} \\(2 files were there before\\)$`, 'm'));
  const seen = parseReply<{ handback: object }>(await call('observe', job.id));
  assert.deepEqual(seen.handback, { dir, told: 0, newest: null, frozen: false, before: 2 });
  release();
  // The last look sees all of it.
  const ended = await call('wait', job.id);
  assert.match(ended.stderr, /^hand-back: nothing new in \S+ \(2 files were there before\)$/m);
  assert.equal(
    readFileSync(join(workspace.path('.job-state/jobs'), job.id, 'state.json'), 'utf8').includes('"frozen":true'),
    false,
  );
});
