/**
 * `verify` and `result --claims` (feature rows S2.101, S2.102): what the answer of a job claims is held against git and the record of its end; a
 * verdict per claim; nothing in the repository changes, and nothing that an agent names is run or looked at.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { claim, verify } from '../helpers/claims.ts';
import { parseReply, run } from '../helpers/companion.ts';
import { launchHeld } from '../helpers/jobs.ts';
import { makeStaff } from '../helpers/staff.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

/** `$NEW` and `$OLD` are commits of now and of before. */
const commitA = `echo one >a.txt; git add a.txt; git commit -q -m 'Add a'; NEW=$(git rev-parse HEAD); OLD=$(git rev-parse HEAD~1)\n`;

test('commits, files and status that are as claimed: 0, and every claim is verified or recorded', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  workspace.write('gone.txt', 'x\n');
  workspace.git('add', '.');
  workspace.git('commit', '-q', '-m', 'Before');
  staff.act(
    `${commitA}mkdir sub; echo b >sub/b.txt; echo more >>README.md; git rm -q gone.txt; echo rest >rest.txt
${claim({
  commits: [{ sha: '$NEW', subject: 'Add a', repo: workspace.dir }],
  filesChanged: ['a.txt', './sub/b.txt', 'sub/', 'README.md', 'gone.txt'],
  commands: [{ command: 'make', exitCode: 2, note: 'as ever' }],
  tests: [{ name: 'unit', result: 'pass' }],
})}`,
  );
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const found = await verify(workspace, job.id);
  const sha = workspace.git('rev-parse', 'HEAD').trim().slice(0, 12);
  assert.deepEqual(found.rows, [
    'status done: verified',
    `commit ${sha} Add a: verified`,
    'file a.txt: verified',
    'file ./sub/b.txt: verified',
    'file sub/: verified',
    'file README.md: verified',
    'file gone.txt: verified',
    'test unit: pass: recorded',
    'command make: recorded',
  ]);
  assert.deepEqual([found.code, found.verdict, found.reply.error], [0, 'verified', null]);
  assert.deepEqual(found.reply.unclaimed, { files: ['rest.txt'], file_count: 1, commits: [], commit_count: 0 });
  const page = await run(workspace, ['verify', job.id.slice(0, -2)]);
  assert.equal(page.code, 0, page.stderr);
  assert.match(page.stdout, new RegExp(`^${job.id}: verified; it claims to be done\n7 verified, 2 recorded\n`));
  assert.match(page.stderr, /^changed, and not claimed: rest\.txt$/m);
});

test('each claim that does not hold is contradicted with its reason, and the verdict is 3', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(
    `${commitA}git branch 0123abc HEAD; git branch -q side; git checkout -q --detach
echo lost >lost.txt; git add lost.txt; git commit -q -m Lost; LOST=$(git rev-parse HEAD); git checkout -q main; TREE=$(git rev-parse 'HEAD^{tree}')
git replace "$OLD" "$NEW"
${claim({
  commits: [
    { sha: '$NEW', subject: 'Add b' },
    { sha: '$OLD', subject: 'Start' },
    { sha: '$LOST' },
    { sha: '$TREE' },
    { sha: '0123abc' },
    { sha: 'deadbeefdeadbeef' },
  ],
  filesChanged: ['a.txt', 'README.md', 'missing.txt'],
})}`,
  );
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const found = await verify(workspace, job.id);
  const judged = found.rows.map(
    (row, at) => `${row.replace(/^(\w+) ([0-9a-f]{7,12}).*: /, '$1: ')}, ${found.details[at]}`,
  );
  const stays = 'it is as it was when the job started, and no commit of the job changes it';
  assert.deepEqual(judged, [
    'status done: verified, the job is done',
    'commit: contradicted, its subject is Add a',
    'commit: contradicted, it was there before the job started',
    'commit: contradicted, it is there, but no branch, tag or HEAD leads to it: it will be lost',
    'commit: contradicted, it is a tree, no commit',
    'commit: contradicted, there is no such commit in the repository of the job',
    'commit: contradicted, there is no such commit in the repository of the job',
    'file a.txt: verified, added and committed when the job ended',
    `file README.md: contradicted, ${stays}`,
    `file missing.txt: contradicted, ${stays}`,
  ]);
  assert.deepEqual([found.code, found.verdict, found.reply.error?.code], [3, 'contradicted', 'contradicted']);
  assert.match(found.reply.error?.message ?? '', /^commit .*its subject is Add a \(and 7 more\)$/);
});

test('what cannot be told from here is unverifiable: another repository, an ignored file, a repository inside, a date before the start', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('.gitignore', 'dist/\n');
  workspace.git('add', '.gitignore');
  workspace.git('commit', '-q', '-m', 'Ignore');
  const staff = makeStaff(workspace);
  const away = join(workspace.base, 'away');
  staff.act(
    `mkdir dist; echo x >dist/out.js; ln -s /nowhere out; git init -q inner; echo y >inner/y.txt
git init -q '${away}'; git -C '${away}' -c user.name=a -c user.email=a@b commit -q --allow-empty -m Away; AWAY=$(git -C '${away}' rev-parse HEAD)
GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' git commit -q --allow-empty -m Dated; DATED=$(git rev-parse HEAD)
${claim({
  commits: [{ sha: '$AWAY', repo: away }, { sha: '$DATED' }],
  filesChanged: ['dist/out.js', 'dist/gone.js', 'out/x', 'inner/z.txt', '.job-state/jobs'],
})}`,
  );
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const found = await verify(workspace, job.id);
  assert.deepEqual(
    found.rows.map((row) => row.split(': ').at(-1)),
    ['verified', ...Array(4).fill('unverifiable'), 'contradicted', ...Array(2).fill('unverifiable')],
    found.details.join('\n'),
  );
  assert.match(
    found.details.join('\n'),
    /only the repository of the job.*\n.*before the job started\n.*ignores it.*\n.*ignores it.*\n.*as it was.*\n.*repository of its own.*\n.*state folder/,
  );
  assert.deepEqual([found.code, found.verdict], [3, 'contradicted']);

  staff.act(claim({ filesChanged: ['dist/out.js'] }));
  const other = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', other.id])).code, 0);
  const open = await verify(workspace, other.id);
  assert.deepEqual([open.code, open.verdict, open.reply.error?.code], [3, 'unverifiable', 'unverifiable']);
});

test('of a worktree that was merged and removed, commits and files still hold', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(
    `${commitA}${claim({ commits: [{ sha: '$NEW', subject: 'Add a' }, { sha: '$OLD' }], filesChanged: ['a.txt', 'README.md'] })}`,
  );
  const job = await staff.launch('implement', ['--prompt', 'x', '--worktree']);
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const judged = ['verified', 'verified', 'contradicted', 'verified', 'contradicted'];
  assert.deepEqual(
    (await verify(workspace, job.id)).rows.map((row) => row.split(': ').at(-1)),
    judged,
  );
  const { path, branch } = job.json<{ worktree: { path: string; branch: string } }>('spec.json').worktree;
  workspace.git('merge', '-q', branch);
  workspace.git('worktree', 'remove', '--force', path);
  workspace.git('branch', '-q', '-D', branch);
  const found = await verify(workspace, job.id, ['--rerun', 'true']);
  assert.deepEqual(
    found.rows.map((row) => row.split(': ').at(-1)),
    [...judged, 'unverifiable'],
  );
});

test('what the caller changes after the end, and takes back, changes no verdict', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(`echo mine >made.txt\n${claim({ filesChanged: ['made.txt', 'README.md'] })}`);
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  rmSync(workspace.path('made.txt'));
  workspace.write('README.md', 'changed later\n');
  assert.deepEqual((await verify(workspace, job.id)).rows, [
    'status done: verified',
    'file made.txt: verified',
    'file README.md: contradicted',
  ]);
});

test('of more changed files than the record names, each claimed one is still found', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const files = Array.from({ length: 260 }, (_, n) => `made/${String(n).padStart(3, '0')}.txt`);
  staff.act(
    `mkdir made; for n in $(seq -w 0 259); do echo $n >made/$n.txt; done\n${claim({ filesChanged: [...files, 'README.md'] })}`,
  );
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const found = await verify(workspace, job.id);
  assert.equal(found.rows.filter((row) => row.endsWith(': verified')).length, 261);
  assert.deepEqual(found.rows.at(-1), 'file README.md: contradicted');
  assert.deepEqual([found.reply.unclaimed?.file_count, found.reply.unclaimed?.files], [0, []]);
});

test('a worktree of its own, and a job in a subfolder: names count from both', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('sub/x.txt', 'x\n');
  workspace.git('add', '.');
  workspace.git('commit', '-q', '-m', 'Sub');
  const staff = makeStaff(workspace);
  const claimed = claim({ commits: [{ sha: '$NEW', repo: workspace.dir }], filesChanged: ['a.txt', 'sub/a.txt'] });
  staff.act(`${commitA}${claimed}`);
  const words = ['implement', '--profile', 'standard', '--prompt', 'x', '--id-only', '--worktree'];
  const inSub = await run(workspace, words, { cwd: workspace.path('sub') });
  assert.equal(inSub.code, 0, inSub.stderr);
  const id = inSub.stdout.trim();
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  const found = await verify(workspace, id);
  assert.deepEqual([found.code, found.verdict], [0, 'verified'], JSON.stringify(found.reply));
});

test('outside git files are told by the record, and commits cannot be', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const staff = makeStaff(workspace);
  workspace.write('old.txt', 'x');
  staff.act(`echo a >a.txt\n${claim({ filesChanged: ['a.txt', 'old.txt'], commits: [{ sha: 'abcdef1' }] })}`);
  const job = await staff.launch('staffer');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const found = await verify(workspace, job.id);
  assert.deepEqual(found.rows, [
    'status done: verified',
    'commit abcdef1: unverifiable',
    'file a.txt: verified',
    'file old.txt: contradicted',
  ]);
});

test('a status is held against the outcome: failed, not finished, blocked', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(`${claim({})}exit 7`);
  const failed = await staff.launch('staffer');
  assert.equal((await run(workspace, ['wait', failed.id])).code, 3);
  const first = await verify(workspace, failed.id);
  assert.deepEqual(
    [first.code, first.rows, first.details],
    [3, ['status done: contradicted'], ['the job is failed (exit_nonzero)']],
  );
  const claims = await run(workspace, ['result', failed.id, '--claims']);
  assert.deepEqual([claims.code, parseReply(claims).status], [3, 'done']);

  staff.act(`echo 'NOT FINISHED: the rest'; ${claim({})}`);
  const unfinished = await staff.launch('staffer');
  assert.equal((await run(workspace, ['wait', unfinished.id])).code, 0);
  assert.deepEqual((await verify(workspace, unfinished.id)).rows, ['status done: contradicted']);

  staff.act(claim({ status: 'blocked', blockedReason: 'no key' }));
  const blocked = await staff.launch('staffer');
  assert.equal((await run(workspace, ['wait', blocked.id])).code, 0);
  const third = await verify(workspace, blocked.id);
  assert.deepEqual([third.code, third.rows, third.reply.status], [0, ['status blocked: recorded'], 'blocked']);
});

test('a run claims too, with the end of its output, and what was there at its start is not known', async (t) => {
  const workspace = makeWorkspace(t);
  const script = `seq 1 30000\n${commitA}echo two >two.txt\n${claim({ commits: [{ sha: '$NEW' }], filesChanged: ['a.txt', 'two.txt'] })}`;
  writeFileSync(join(workspace.base, 'work.sh'), script);
  const ran = await run(workspace, ['run', '--id-only', '--', 'sh', join(workspace.base, 'work.sh')]);
  assert.equal(ran.code, 0, ran.stderr);
  const id = ran.stdout.trim();
  assert.equal((await run(workspace, ['wait', id])).code, 0);
  const found = await verify(workspace, id);
  assert.deepEqual(
    found.rows.map((row) => row.split(': ').at(-1)),
    ['verified', 'verified', 'verified', 'unverifiable'],
  );
  assert.match(found.details[3] ?? '', /not recorded/);
});

test('without a block: 3, with the typed error; while it runs: 2; of no job: 1', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const answers: [text: string, code: string, path: string | null][] = [
    ['echo Done.', 'NO_BLOCK', null],
    [`${claim({ commits: [{ sha: 'x' }] })}`, 'SCHEMA_VIOLATION', 'commits[0].sha'],
  ];
  for (const [text, code, fieldPath] of answers) {
    staff.act(text);
    const job = await staff.launch('staffer');
    assert.equal((await run(workspace, ['wait', job.id])).code, 0);
    const found = await verify(workspace, job.id);
    assert.deepEqual([found.code, found.reply.error?.code, found.reply.block_error?.code], [3, 'unverifiable', code]);
    const claims = await run(workspace, ['result', job.id, '--claims']);
    const { error } = parseReply<{ error: { code: string; fieldPath: string | null } }>(claims);
    assert.deepEqual([claims.code, error.code, error.fieldPath], [3, code, fieldPath]);
    assert.match(claims.stderr, new RegExp(`${job.id}: ${code}: `));
  }
  const held = await launchHeld(workspace);
  const pending = await verify(workspace, held.id);
  assert.deepEqual([pending.code, pending.reply.state], [2, 'running']);
  assert.equal((await run(workspace, ['result', held.id, '--claims'])).code, 2);
  held.release();
  assert.equal((await run(workspace, ['wait', held.id])).code, 0);
  const unknown = await run(workspace, ['verify', 'run-aaaaaaaa-aaaaaa']);
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.equal((await run(workspace, ['verify'])).code, 1);
});

test('claims of hostile text reach no terminal as commands, and the block comes back as plain JSON', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const nasty = '\u001b]0;owned\u0007\u009b31m\u202e';
  writeFileSync(
    join(workspace.home, 'answer'),
    `\`\`\`completion\n${JSON.stringify({
      ...{ schema: 'pi-completion/v1', status: 'done', summary: `red${nasty}` },
      ...{
        filesChanged: [`a${nasty}\n\`b`, '--help', ':(glob)**'],
        commands: [{ command: `rm -rf ${nasty}/`, exitCode: 0 }],
      },
    })}\n\`\`\`\n`,
  );
  staff.act('cat "$HOME/answer"');
  const job = await staff.launch('staffer');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  for (const words of [
    ['verify', job.id],
    ['verify', job.id, '--json'],
    ['result', job.id, '--claims'],
  ]) {
    const reply = await run(workspace, words);
    assert.doesNotMatch(reply.stdout + reply.stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/, words.join(' '));
  }
  const found = await verify(workspace, job.id);
  assert.deepEqual([found.code, found.verdict, found.rows.length], [3, 'contradicted', 5]);
  const claims = parseReply<{ summary: string; filesChanged: string[] }>(
    await run(workspace, ['result', job.id, '--claims']),
  );
  assert.deepEqual([claims.summary, claims.filesChanged[0]], ['red', `a${nasty}\n\`b`]);
});

/** Everything that git and we know of a folder: names, sizes, times, contents. */
function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
    const file = join(folder, name);
    const stat = statSync(file);
    hash.update(`${name} ${stat.mtimeMs} ${stat.ino} ${stat.mode}\n`);
    if (stat.isFile()) hash.update(readFileSync(file));
  }
  return hash.digest('hex');
}

function plantTraps(workspace: Workspace): string {
  const trap = join(workspace.base, 'trap');
  const hooks = workspace.path('.git/hooks');
  mkdirSync(hooks, { recursive: true });
  for (const [name, value] of [
    ['core.fsmonitor', `touch ${trap}`],
    ['diff.external', `touch ${trap}`],
    ['core.pager', `touch ${trap}`],
    ['filter.x.clean', `touch ${trap}`],
    ['diff.x.textconv', `touch ${trap}`],
    ['gpg.program', `touch ${trap}`],
    ['log.showSignature', 'true'],
  ] as const)
    workspace.git('config', name, value);
  workspace.write('.gitattributes', '* filter=x diff=x\n');
  return trap;
}

test('nothing in the repository changes, no program of its configuration runs, and a link leads nowhere', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(
    `${commitA}ln -s / out\n${claim({ commits: [{ sha: '$NEW' }], filesChanged: ['a.txt', 'README.md', 'out/etc/passwd'] })}`,
  );
  const job = await staff.launch('implement');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const trap = plantTraps(workspace);
  // A time that git would find fresher than its index.
  workspace.write('README.md', workspace.read('README.md'));
  const before = fingerprint(workspace.path('.git'));
  const index = statSync(workspace.path('.git/index')).mtimeMs;
  const found = await verify(workspace, job.id);
  assert.deepEqual(
    found.rows.slice(1).map((row) => row.split(': ').at(-1)),
    ['verified', 'verified', 'contradicted', 'contradicted'],
  );
  assert.equal(fingerprint(workspace.path('.git')), before);
  assert.equal(statSync(workspace.path('.git/index')).mtimeMs, index);
  assert.equal(existsSync(trap), false);
});

test('a record that somebody changed is not held against anything, and no command runs in the folder that it names', async (t) => {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  staff.act(claim({}));
  const job = await staff.launch('staffer');
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const spec = job.json<Record<string, unknown>>('spec.json');
  rmSync(job.path('spec.json'));
  writeFileSync(job.path('spec.json'), JSON.stringify({ ...spec, cwd: workspace.base }), { mode: 0o600 });
  const found = await verify(workspace, job.id, ['--rerun', 'touch ran']);
  assert.deepEqual([found.code, found.verdict, found.rows], [3, 'unverifiable', []]);
  assert.match(found.reply.error?.message ?? '', /spec\.json was changed/);
  assert.equal(existsSync(join(workspace.base, 'ran')), false);
});

test('of an agent that failed after its answer the claims stand in its stream', async (t) => {
  const workspace = makeWorkspace(t);
  const bin = join(workspace.home, 'bin');
  mkdirSync(bin);
  const block = '```completion\n{"schema":"pi-completion/v1","status":"done","summary":"It works."}\n```';
  const message = JSON.stringify({
    type: 'item.completed',
    item: { type: 'agent_message', text: `Done.\n\n${block}\n` },
  });
  writeFileSync(
    join(bin, 'codex'),
    `#!/bin/sh
case $1 in --version) echo 'codex-cli 0.171.0'; exit ;; esac
cat >/dev/null
echo '{"type":"thread.started","thread_id":"t1"}'
cat <<'END'
${message}
END
echo '{"type":"turn.completed"}'
exit 9
`,
    { mode: 0o755 },
  );
  const env = { PATH: `${bin}:${workspace.env.PATH}` };
  const words = ['research', '--backend', 'codex', '--prompt', 'x', '--id-only'];
  const launched = await run(workspace, words, { env });
  const id = launched.stdout.trim();
  assert.equal((await run(workspace, ['wait', id])).code, 3, launched.stderr);
  const claims = await run(workspace, ['result', id, '--claims']);
  assert.deepEqual([claims.code, parseReply(claims).summary], [3, 'It works.']);
  assert.deepEqual((await verify(workspace, id)).rows, ['status done: contradicted']);
});
