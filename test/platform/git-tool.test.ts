/**
 * Git as a tool: whatever a repository defines to be run is planted, shown to run under plain git, and shown not to run under ours.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { type GitAnswer, type GitTerms, openGit, repositoryVariables } from '../../companion/src/platform/git-tool.ts';
import { makeRepository, type Repository } from '../jobs/repository.ts';

interface Planted {
  repository: Repository;
  /** What ran, by the names given to `trap`; forgotten afterwards. */
  ran(): string[];
  /** A program that leaves its name behind and passes its input on (or does what `then` says). */
  trap(name: string, then?: string): string;
}

function plant(t: TestContext): Planted {
  const repository = makeRepository(t);
  const marks = join(repository.base, 'marks');
  mkdirSync(marks);
  const names: string[] = [];
  return {
    repository,
    trap(name, then = 'exec cat') {
      names.push(name);
      const file = join(repository.base, `trap-${name}`);
      writeFileSync(file, `#!/bin/sh\n: >'${marks}/${name}'\n${then}\n`);
      chmodSync(file, 0o755);
      return file;
    },
    ran() {
      const found = names.filter((name) => existsSync(join(marks, name)));
      for (const name of found) rmSync(join(marks, name));
      return found.sort();
    },
  };
}

function run(folder: string, ...args: string[]): GitAnswer {
  const opened = openGit(folder);
  assert.ok('git' in opened, 'reason' in opened ? opened.reason : '');
  return opened.git.run(args);
}

let time = 1_000;

/** The same bytes with yet another time, so that git has to look at them again. */
function touch(repository: Repository, ...names: string[]): void {
  time += 1;
  for (const name of names) utimesSync(repository.path(name), time, time);
}

/** HEAD becomes a commit that carries a signature of some kind. */
function signed(repository: Repository): void {
  const [head = '', ...body] = repository.git('cat-file', 'commit', 'HEAD').split('\n\n');
  const key = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----';
  const file = repository.write('commit', `${head}\n${key}\n\n${body.join('\n\n')}`);
  repository.git('update-ref', 'HEAD', repository.git('hash-object', '-t', 'commit', '-w', file).trim());
  repository.remove('commit');
}

test('no filter of the repository runs, neither one that was there nor a process one', (t) => {
  const { repository, trap, ran } = plant(t);
  const { git } = repository;
  repository.write('.gitattributes', 'a.txt filter=one\nsub/b.txt filter=tw.o\n');
  repository.commit('Attributes');
  git('config', 'filter.one.clean', trap('clean'));
  git('config', 'filter.one.required', 'true');
  git('config', 'filter.tw.o.process', trap('process'));
  git('config', 'filter.one.smudge', trap('smudge'));
  touch(repository, 'a.txt', 'sub/b.txt');
  try {
    git('status', '--porcelain');
  } catch {
    // The process filter speaks no protocol.
  }
  assert.deepEqual(ran(), ['clean', 'process']);
  touch(repository, 'a.txt', 'sub/b.txt');
  assert.ok(run(repository.dir, 'status', '--porcelain').ok);
  assert.ok(run(repository.dir, 'worktree', 'add', '--detach', join(repository.base, 'other')).ok);
  assert.deepEqual(ran(), []);
});

test('a filter whose name cannot be switched off is a reason to stay away', (t) => {
  const { repository, trap, ran } = plant(t);
  repository.write('.gitattributes', 'a.txt filter=x=y\n');
  repository.git('config', 'filter.x=y.clean', trap('clean'));
  touch(repository, 'a.txt');
  assert.deepEqual(openGit(repository.dir), {
    reason: 'its configuration names filters or hooks that cannot be switched off',
  });
  assert.deepEqual(ran(), []);
  const { git, reason, files } = repository.capture();
  assert.deepEqual([git, files === null], [null, false]);
  assert.match(reason ?? '', /cannot be switched off/);
});

test('no filter of a submodule runs', (t) => {
  const { repository, trap, ran } = plant(t);
  repository.write('mod/f', 'f');
  const inner = ['-C', repository.path('mod')];
  const { git } = repository;
  git('init', '-q', 'mod');
  repository.write('mod/.gitattributes', 'f filter=evil\n');
  git(...inner, 'add', '-A');
  git(...inner, '-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-qm', 'Inner');
  git('-c', 'advice.addEmbeddedRepo=false', 'add', 'mod');
  repository.write('.gitmodules', '[submodule "mod"]\n\tpath = mod\n\turl = ./mod\n');
  repository.commit('Outer');
  git(...inner, 'config', 'filter.evil.clean', trap('clean'));
  touch(repository, 'mod/f');
  git('status', '--porcelain');
  assert.deepEqual(ran(), ['clean']);
  touch(repository, 'mod/f');
  assert.equal(repository.capture().exact, true);
  assert.deepEqual(ran(), []);
  git('config', 'submodule.mod.ignore', 'none');
  git('config', 'diff.submodule', 'diff');
  repository.write('mod/f', 'g');
  git('diff');
  assert.deepEqual(ran(), ['clean']);
  touch(repository, 'mod/f');
  for (const args of [['diff'], ['diff', 'HEAD']]) assert.ok(run(repository.dir, ...args).ok);
  assert.deepEqual(ran(), []);
});

test('no hook runs, whether in the folder of hooks, elsewhere or in the configuration', (t) => {
  const { repository, trap, ran } = plant(t);
  const { git } = repository;
  const hooks = join(repository.base, 'hooks');
  mkdirSync(hooks);
  for (const name of ['post-checkout', 'post-index-change', 'reference-transaction']) {
    writeFileSync(join(hooks, name), `#!/bin/sh\nexec ${trap(name)} </dev/null\n`, { mode: 0o755 });
  }
  git('config', 'core.hooksPath', hooks);
  git('config', 'hook.linter.command', trap('configured'));
  git('config', 'hook.linter.event', 'post-checkout');
  git('worktree', 'add', '-q', '--detach', join(repository.base, 'one'));
  touch(repository, 'a.txt');
  git('status');
  assert.deepEqual(
    ran().filter((name) => name !== 'configured'),
    ['post-checkout', 'post-index-change', 'reference-transaction'],
  );
  touch(repository, 'a.txt');
  assert.ok(run(repository.dir, 'status').ok);
  assert.ok(run(repository.dir, 'worktree', 'add', '--detach', join(repository.base, 'two')).ok);
  assert.deepEqual(ran(), []);
});

test('hooks of the configuration are switched off by name', (t) => {
  const { repository } = plant(t);
  repository.git('config', 'hook.linter.command', 'true');
  const answer = run(repository.dir, 'config', '--get', 'hook.linter.enabled');
  assert.equal(answer.ok && answer.bytes.toString(), 'false\n');
});

test('no fsmonitor, external diff, textconv, pager or alias runs', (t) => {
  const { repository, trap, ran } = plant(t);
  const { git } = repository;
  git('config', 'core.fsmonitor', trap('fsmonitor'));
  git('config', 'diff.external', trap('external'));
  git('config', 'diff.words.textconv', trap('textconv'));
  git('config', 'core.pager', trap('pager'));
  git('config', 'pager.status', 'true');
  git('config', 'alias.status', `!${trap('alias')}`);
  git('config', 'log.showSignature', 'true');
  git('config', 'gpg.program', trap('gpg'));
  repository.write('.gitattributes', '*.txt diff=words\n');
  repository.commit('Attributes');
  repository.write('a.txt', 'changed\n');
  git('diff');
  git('status');
  git('-c', 'diff.external=', 'show', '--textconv', 'HEAD~1');
  signed(repository);
  git('show');
  assert.deepEqual(ran(), ['external', 'fsmonitor', 'gpg', 'textconv']);
  for (const args of [['diff'], ['diff', 'HEAD~1'], ['show', 'HEAD~1'], ['show'], ['log', '-p', '--stat']]) {
    const answer = run(repository.dir, ...args);
    assert.ok(answer.ok && answer.bytes.length > 0, args.join(' '));
  }
  assert.deepEqual(ran(), []);
  repository.move('a.txt', 'c.txt');
  git('-c', 'core.fsmonitor=false', 'add', '-N', 'c.txt');
  const before = repository.capture();
  assert.equal(before.reason, null);
  assert.deepEqual(ran(), []);
});

test('nothing is fetched and no credential is asked for: a missing object is a missing object', (t) => {
  const { repository, trap, ran } = plant(t);
  const { git } = repository;
  repository.write('lost', 'line\n'.repeat(40));
  repository.commit('Lost');
  const blob = git('rev-parse', 'HEAD:lost').trim();
  rmSync(repository.path('.git/objects', blob.slice(0, 2), blob.slice(2)));
  git('config', 'core.repositoryformatversion', '1');
  git('config', 'extensions.partialClone', 'origin');
  git('config', 'remote.origin.promisor', 'true');
  git('config', 'remote.origin.url', `ext::${trap('remote', 'exit 1')}`);
  git('config', 'protocol.ext.allow', 'always');
  git('config', 'credential.helper', trap('credential', 'exit 1'));
  assert.throws(() => git('cat-file', 'blob', blob));
  assert.deepEqual(ran(), ['remote']);
  assert.equal(run(repository.dir, 'cat-file', 'blob', blob).ok, false);
  assert.deepEqual(ran(), []);
  // Finding this rename needs the missing content: it is told as two changes then.
  repository.write('lost.2', `${'line\n'.repeat(40)}more\n`);
  repository.remove('lost');
  git('add', '-A');
  const { reason, entries } = repository.capture();
  assert.deepEqual([reason, entries.map(({ xy, path }) => `${xy} ${path}`)], [null, ['D. lost', 'A. lost.2']]);
  assert.deepEqual(ran(), []);
});

test('a git that lies in the repository is not the one that is run', (t) => {
  const { repository, trap, ran } = plant(t);
  execFileSync('cp', [trap('git'), repository.path('git')]);
  const [kept, cwd] = [process.env.PATH, process.cwd()];
  t.after(() => {
    process.env.PATH = kept;
    process.chdir(cwd);
  });
  process.chdir(repository.dir);
  for (const place of ['.', '', 'sub/..']) {
    process.env.PATH = `${place}:${kept}`;
    assert.ok(run(repository.dir, 'status').ok);
  }
  process.env.PATH = '.';
  assert.deepEqual(openGit(repository.dir), { reason: 'git is not installed (no git on PATH)' });
  assert.deepEqual(ran(), []);
});

test('a look writes nothing: the index stays as it is, though git would like to refresh it', (t) => {
  const { repository } = plant(t);
  const { capture, git, path } = repository;
  const index = () => execFileSync('cksum', [path('.git/index')], { encoding: 'utf8' });
  touch(repository, 'a.txt');
  const first = index();
  assert.deepEqual(capture().entries, []);
  assert.equal(index(), first);
  git('status');
  assert.notEqual(index(), first);
});

test('variables that bind git to another repository do not reach it, and all of them are known', (t) => {
  const { repository } = plant(t);
  const other = makeRepository(t);
  const listed = repository.git('rev-parse', '--local-env-vars').trim().split('\n');
  assert.deepEqual(
    listed.filter((name) => !(repositoryVariables as readonly string[]).includes(name)),
    [],
  );
  const values: Record<string, string> = {
    GIT_DIR: other.path('.git'),
    GIT_WORK_TREE: other.dir,
    GIT_INDEX_FILE: other.path('.git/index'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.worktree',
    GIT_CONFIG_VALUE_0: other.dir,
    GIT_TRACE: '1',
  };
  Object.assign(process.env, values);
  t.after(() => {
    for (const name of Object.keys(values)) delete process.env[name];
  });
  repository.write('only-here', 'x');
  const { git, entries } = repository.capture();
  assert.equal(git?.root, repository.dir);
  assert.deepEqual(
    entries.map(({ path }) => path),
    ['only-here'],
  );
});

test('a call has a time limit and a bounded output, and says which was reached', (t) => {
  const { repository } = plant(t);
  const opened = openGit(repository.dir);
  assert.ok('git' in opened);
  execFileSync('mkfifo', [repository.path('pipe')]);
  const hanging = opened.git.run(['hash-object', '--no-filters', 'pipe'], { timeoutMs: 100 });
  assert.deepEqual(hanging, { ok: false, code: null, reason: 'git hash-object took longer than 0.1 s', cut: 'time' });
  repository.write('long', 'x'.repeat(10_000));
  const long = opened.git.run(['hash-object', '-t', 'blob', '--stdin-paths'], { input: 'long\n', limit: 10 });
  assert.deepEqual(long, { ok: false, code: null, reason: 'git hash-object wrote more than 10 bytes', cut: 'output' });
  const failed = opened.git.run(['cat-file', 'blob', 'none']);
  assert.deepEqual(failed, {
    ok: false,
    code: 128,
    reason: 'git cat-file ended with 128: fatal: Not a valid object name none',
  });
  assert.deepEqual(openGit(repository.path('gone')), { reason: `the folder ${repository.path('gone')} is gone` });
});

test('a work tree that the configuration moves elsewhere is not taken for this one', (t) => {
  const { repository } = plant(t);
  const other = makeRepository(t);
  repository.git('config', 'core.worktree', other.dir);
  const { git, reason } = repository.capture();
  assert.deepEqual([git, reason], [null, `its work tree is elsewhere (core.worktree is ${other.dir})`]);
});

test('all calls together can have an end, and beyond it none is made', (t) => {
  const { repository } = plant(t);
  const opened = openGit(repository.dir, { until: monotonicMs() + 60_000 });
  assert.ok('git' in opened && opened.git.run(['status']).ok);
  const late = openGit(repository.dir, { until: monotonicMs() - 1 });
  assert.deepEqual(late, { reason: 'there was no time left for git config' });
  execFileSync('mkfifo', [repository.path('pipe')]);
  const began = monotonicMs();
  const short = openGit(repository.dir, { until: began + 300 });
  assert.ok('git' in short);
  const hanging = short.git.run(['hash-object', '--no-filters', 'pipe'], { timeoutMs: 60_000 });
  assert.deepEqual([hanging.ok, !hanging.ok && hanging.cut], [false, 'time']);
  assert.equal(short.git.run(['status']).ok, false);
  assert.ok(monotonicMs() - began < 5_000);
});

test('what the configuration names in another folder is switched off too', (t) => {
  const { repository, trap, ran } = plant(t);
  const other = join(repository.base, 'other');
  repository.git('worktree', 'add', '-q', '--detach', other);
  repository.write('.git/evil', `[filter "evil"]\n\tclean = ${trap('clean')}\n`);
  repository.git('config', 'includeIf.gitdir:**/worktrees/**.path', 'evil');
  writeFileSync(join(other, '.gitattributes'), '*.txt filter=evil\n');
  const look = (terms?: GitTerms) => {
    time += 1;
    utimesSync(join(other, 'a.txt'), time, time);
    const opened = openGit(repository.dir, terms);
    assert.ok('git' in opened && opened.git.run(['-C', other, 'status']).ok);
    return ran();
  };
  assert.deepEqual([look(), look({ also: [other] })], [['clean'], []]);
  assert.deepEqual(openGit(repository.dir, { also: ['/nowhere'] }), { reason: 'the folder /nowhere is gone' });
});
