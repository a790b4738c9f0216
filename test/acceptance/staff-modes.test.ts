/**
 * The modes of staff (contract 1, 4): what the agent is told, with which profile, and what the caller hears. A scripted
 * agent stands for a real one; the real ones are in test/agents.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { makeStaff } from '../helpers/staff.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const words: [verb: string, role: RegExp][] = [
  ['staffer', /carry out a task/],
  ['research', /look into a question/],
  ['review', /review changes/],
  ['implement', /make a change/],
  ['ask', /answer a question/],
];
for (const [verb, role] of words) {
  test(`${verb}: the agent gets its role, the task, and where it stands`, async (t) => {
    const workspace = makeWorkspace(t);
    workspace.write('dirty.txt', 'x');
    const staff = makeStaff(workspace);
    const reply = await staff.staff(verb, ['--prompt', '--do it']);
    assert.deepEqual([reply.code, reply.stdout], [0, 'answer\n'], reply.stderr);
    const id = readdirSync(workspace.path('.job-state/jobs'))[0] ?? '';
    assert.match(id, new RegExp(`^${verb}-`));
    const brief = staff.brief(id);
    assert.match(brief, role);
    assert.ok(brief.includes('<task>\n--do it\n</task>'), brief);
    for (const part of [workspace.dir, 'branch main', '?? dirty.txt', 'Start']) assert.ok(brief.includes(part), part);
  });
}

for (const verb of ['research', 'review', 'ask']) {
  test(`${verb}: restricted unless told otherwise, and refused where that cannot be kept`, async (t) => {
    const workspace = makeWorkspace(t);
    makeStaff(workspace);
    const refused = await run(workspace, [verb, '--prompt', 'x']);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /cannot use profile restricted with backend script: .*possible: standard, unrestricted/,
    );
    assert.equal(existsSync(workspace.path('.job-state')), false);
  });
}

test('review: says what to look at, and has the same as a patch file', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('README.md', '# Changed\n');
  workspace.write('new file.txt', 'new\n');
  const staff = makeStaff(workspace);
  staff.act('cat "$(dirname "$0")" 2>/dev/null; echo see "$JOB_ID"; exit 3');
  const job = await staff.launch('review');
  await run(workspace, ['wait', job.id]);
  const brief = staff.brief(job.id);
  assert.match(brief, /The uncommitted changes: git diff HEAD/);
  assert.match(brief, /1 new file/);
  const patch = /(\S+review\.diff)/.exec(brief)?.[1] ?? '';
  assert.equal(patch, job.path('review.diff'));
  assert.match(job.text('review.diff'), /^\+# Changed$/m);
});

test('review --base: everything since the fork, named as it was found', async (t) => {
  const workspace = makeWorkspace(t);
  const base = workspace.git('rev-parse', 'HEAD').trim();
  workspace.git('checkout', '-q', '-b', 'topic');
  workspace.write('a.txt', 'a\n');
  workspace.git('add', '.');
  workspace.git('commit', '-q', '-m', 'Topic');
  const staff = makeStaff(workspace);
  const job = await staff.launch('review', ['--base', 'main', '--prompt', 'Look.']);
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.match(staff.brief(job.id), new RegExp(`since main, committed or not: git diff ${base}`));
  for (const bad of ['no-such-rev', '--output=x', '']) {
    const refused = await run(workspace, ['review', '--profile', 'standard', `--base=${bad}`, '--prompt', 'x']);
    assert.deepEqual([bad, refused.code, refused.stdout], [bad, 1, '']);
    assert.match(refused.stderr, /cannot review since/);
  }
  assert.equal(existsSync(workspace.path('x')), false);
});

test('review --schema: findings are in the record, or why not', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const finding = { severity: 'high', title: 't', detail: 'd', file: 'a.ts', line: 1, suggestion: null };
  const whole = { verdict: 'changes_requested', summary: 's', findings: [finding] };
  staff.act(`printf '%s\\n' 'Read it.' '\`\`\`json' '${JSON.stringify(whole)}' '\`\`\`'`);
  const good = await staff.launch('review', ['--schema', '--prompt', 'Look.']);
  const reply = await run(workspace, ['wait', good.id]);
  assert.equal(reply.code, 0, reply.stderr);
  assert.match(staff.brief(good.id), /one JSON object/);
  const record = await staff.record(good.id);
  assert.deepEqual([record.findings, record.findings_error], [whole, null]);

  staff.act('echo LGTM');
  const bad = await staff.launch('review', ['--schema', '--prompt', 'Look.']);
  const told = await run(workspace, ['wait', bad.id]);
  assert.deepEqual([told.code, told.stdout], [0, 'LGTM\n']);
  assert.match(told.stderr, /structured findings cannot be read: the answer holds no JSON object/);
  const other = await staff.record(bad.id);
  assert.deepEqual([other.findings, other.findings_error], [null, 'the answer holds no JSON object']);
});

test('a program of the user that asked for no brief gets the task as it is', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const job = await staff.launch('implement', ['--backend', 'bare', '--prompt', '/only this']);
  await run(workspace, ['wait', job.id]);
  assert.equal(staff.brief(job.id), '/only this');
});

test('restart tells the fresh context and the old one as history; continue and restart take overrides', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const first = await staff.launch('implement');
  await run(workspace, ['wait', first.id]);
  workspace.git('checkout', '-q', '-b', 'later');
  workspace.write('later.txt', 'x');
  const again = await run(workspace, ['restart', first.id, '--id-only', '--profile', 'unrestricted', '--model', 'm2'], {
    cwd: workspace.dir,
  });
  assert.equal(again.code, 0, again.stderr);
  const id = again.stdout.trim();
  await run(workspace, ['wait', id]);
  const brief = staff.brief(id);
  const [now = '', old = ''] = brief.split('historical');
  assert.match(now, /branch later/);
  assert.match(now, /\?\? later\.txt/);
  assert.match(old, /branch main/);
  const spec = JSON.parse(workspace.read(`.job-state/jobs/${id}/spec.json`));
  assert.deepEqual([spec.staff.profile, spec.staff.model, spec.lineage.parent], ['unrestricted', 'm2', first.id]);
  assert.equal(JSON.parse(first.text('spec.json')).staff.profile, 'standard');
});
