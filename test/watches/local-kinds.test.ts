/** `watch dir`, `pid`, `job`, `git` and `cmd` against real folders, processes and repositories. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import test from 'node:test';
import { cmd } from '../../companion/src/watches/cmd.ts';
import { dir } from '../../companion/src/watches/dir.ts';
import { git } from '../../companion/src/watches/git.ts';
import { job } from '../../companion/src/watches/job.ts';
import { pid } from '../../companion/src/watches/pid.ts';
import type { Cursor, JobStand, Look, Watch } from '../../companion/src/watches/watch.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { look, lookOnce, makeTools, readWords } from './tools.ts';

function follow(kind: Watch, cwd: string, args: string[]): () => Promise<Look> {
  const { input } = readWords(kind, args, cwd);
  let cursor: Cursor | null = kind.start?.(input) ?? null;
  return async () => {
    const answer = await kind.look(
      JSON.parse(JSON.stringify(input)),
      makeTools({ cwd, over: { everyMs: 60_000 } }),
      cursor,
    );
    if (answer.kind !== 'look') throw new Error(JSON.stringify(answer));
    cursor = JSON.parse(JSON.stringify(answer.cursor));
    return answer;
  };
}
const seen = ({ verdict, word }: Look) => [verdict, word];

test('dir: there, gone, so many names', async (t) => {
  const { dir: cwd, path, write } = makeWorkspace(t, { git: false });
  const there = follow(dir, cwd, ['in']);
  const gone = follow(dir, cwd, ['in', '--gone']);
  const two = follow(dir, cwd, ['in', '--count', '2']);
  assert.deepEqual([await there(), await gone(), await two()].map(seen), [
    ['pending', 'missing'],
    ['met', 'gone'],
    ['pending', 'missing'],
  ]);
  for (const name of ['in/.hidden', 'in/a']) write(name, '');
  assert.deepEqual([await there(), await gone(), await two()].map(seen), [
    ['met', 'exists'],
    ['pending', 'exists'],
    ['pending', 'fewer'],
  ]);
  mkdirSync(path('in/b'));
  assert.deepEqual(seen(await two()), ['met', 'enough']);
});

test('dir --new: what came after the launch and looks so, each once', async (t) => {
  const { dir: cwd, path, write } = makeWorkspace(t, { git: false });
  write('in/old.json', '');
  const next = follow(dir, cwd, ['in', '--new', '*.json']);
  const first = await next();
  assert.deepEqual(seen(first), ['pending', 'nothing_new']);
  write('in/other.txt', '');
  write('in/.secret.json', '');
  assert.equal((await next()).verdict, 'pending');
  write('in/a.json', '');
  write('in/b\n.json', '');
  const met = await next();
  assert.deepEqual([...seen(met), met.facts.new], ['met', 'new', ['a.json', 'b\n.json']]);
  assert.match(met.evidence, /: a\.json, b \.json$/);
  const after = await next();
  assert.deepEqual([after.verdict, after.key], ['pending', met.key]);
  unlinkSync(path('in/a.json'));
  assert.equal((await next()).key, met.key);
  write('in/a.json', '');
  const again = await next();
  assert.equal(again.verdict, 'met');
  assert.notEqual(again.key, met.key);
  rmSync(path('in'), { recursive: true });
  assert.equal((await next()).verdict, 'pending');
});

test('dir --changed: a name that came, went, or is another file', async (t) => {
  const { dir: cwd, path, write } = makeWorkspace(t, { git: false });
  write('in/a', 'x');
  symlinkSync('/no/such/place', path('in/dead'));
  const next = follow(dir, cwd, ['in', '--changed']);
  assert.equal((await next()).verdict, 'pending');
  for (const change of [
    () => write('in/b', ''),
    () => write('in/a', 'xy'),
    () => unlinkSync(path('in/b')),
    () => rmSync(path('in'), { recursive: true }),
  ]) {
    change();
    assert.equal((await next()).verdict, 'met');
    assert.equal((await next()).verdict, 'pending');
  }
});

test('dir: too many names are refused at the launch, and end a watch', async (t) => {
  const { dir: cwd, path } = makeWorkspace(t, { git: false });
  mkdirSync(path('in'));
  const { input } = readWords(dir, ['in', '--changed'], cwd);
  execFileSync('sh', ['-c', 'i=0; while [ $i -lt 5001 ]; do : >f$i; i=$((i+1)); done'], { cwd: path('in') });
  assert.throws(() => readWords(dir, ['in', '--new', '*'], cwd), /it has more than 5000 names/);
  assert.equal((await dir.look(input, makeTools(), null)).kind, 'fault');
  // Whether it is there needs no names.
  assert.equal((await lookOnce(dir, ['in'], { cwd })).verdict, 'met');
});

test('pid: running until it has ended; a zombie has', async () => {
  const child = spawn('sleep', ['600']);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const next = follow(pid, '/', [String(child.pid)]);
    const first = await next();
    assert.deepEqual(seen(first), ['pending', 'running']);
    assert.match(first.evidence, /^process \d+ \(sleep\) is running$/);
    let woken = false;
    const { input } = readWords(pid, [String(child.pid)]);
    const stop = pid.early(input, () => {
      woken = true;
    });
    child.kill();
    await eventually('a wake-up', () => woken);
    stop();
    assert.deepEqual(seen(await next()), ['met', 'gone']);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});

test('pid: another process of the same number is another one', async () => {
  const { input } = readWords(pid, [String(process.ppid)]);
  const identity = input.identity as Record<string, unknown>;
  for (const change of [{ start_token: '1' }, { boot_id: 'another' }, { pid: 1 }, { pid: -5 }]) {
    const answer = await (pid as Watch).look({ ...input, identity: { ...identity, ...change } }, makeTools(), null);
    assert.deepEqual(answer.kind === 'look' && seen(answer), ['met', 'gone'], JSON.stringify(change));
  }
  const hidden = await (pid as Watch).look(
    { ...input, identity: { ...identity, pid_ns: 'another' } },
    makeTools(),
    null,
  );
  assert.equal(hidden.kind, 'trouble');
});

test('pid: numbers that are no process are refused', () => {
  for (const word of ['0', '1', '01', '1e3', '99999999999', 'x', ''])
    assert.throws(() => readWords(pid, [word]), /cannot watch process/, word);
  assert.throws(() => readWords(pid, [String(process.pid)]), /this very command/);
});

test('job: done is met, other ends are failed or, when every end counts, met; a record that is gone is a fault', async () => {
  const verdictOf = async (stand: Partial<JobStand> | undefined, ...args: string[]) => {
    const whole = stand && { state: 'running', isEnded: false, code: 2, seq: 1, error: null, ...stand };
    const answer = await look(job, ['run-mik3x9ab-4f7q2z', ...args], { over: { job: async () => whole } });
    return answer.kind === 'look' ? [answer.verdict, answer.word] : answer.kind;
  };
  assert.deepEqual(await verdictOf({}), ['pending', 'running']);
  assert.deepEqual(await verdictOf({ state: 'done', isEnded: true, code: 0 }), ['met', 'done']);
  const crashed = { state: 'crashed', isEnded: true, code: 3, error: 'worker_lost: x' };
  assert.deepEqual(await verdictOf(crashed), ['failed', 'crashed']);
  assert.deepEqual(await verdictOf(crashed, '--any-end'), ['met', 'crashed']);
  assert.deepEqual(await verdictOf({ state: 'canceled', isEnded: true, code: 4 }), ['failed', 'canceled']);
  assert.equal(await verdictOf(undefined), 'fault');
});

test('git: a branch moves, once per commit, and may go', async (t) => {
  const { dir: cwd, git: run, path } = makeWorkspace(t);
  run('branch', 'side');
  mkdirSync(path('sub'));
  const next = follow(git, path('sub'), ['side']);
  const first = await next();
  assert.deepEqual(seen(first), ['pending', 'unmoved']);
  run('commit', '-q', '--allow-empty', '-m', 'Second \u001b[31mstep');
  run('branch', '-f', 'side', 'main');
  const met = await next();
  assert.deepEqual(seen(met), ['met', 'moved']);
  const [old, now] = [run('rev-parse', 'main~1').trim(), run('rev-parse', 'main').trim()];
  assert.equal(met.evidence, `side: ${old.slice(0, 8)}..${now.slice(0, 8)} Second step`);
  assert.deepEqual([met.facts.was, met.facts.commit], [old, now]);
  const after = await next();
  assert.deepEqual([after.verdict, after.key], ['pending', met.key]);
  run('branch', '-D', 'side');
  assert.deepEqual(seen(await next()), ['met', 'gone']);
  assert.equal((await lookOnce(git, ['main', '--moves'], { cwd })).verdict, 'pending');
});

test('git: a tag comes; a commit gets into a branch', async (t) => {
  const { dir: cwd, git: run } = makeWorkspace(t);
  const tag = follow(git, cwd, ['v1', '--exists']);
  assert.deepEqual(seen(await tag()), ['pending', 'missing']);
  run('tag', '-a', '-m', 'one', 'v1');
  assert.deepEqual(seen(await tag()), ['met', 'exists']);
  run('switch', '-q', '-c', 'side');
  run('commit', '-q', '--allow-empty', '-m', 'Aside');
  const inside = follow(git, cwd, ['main', '--contains', 'side']);
  assert.deepEqual(seen(await inside()), ['pending', 'not_contained']);
  run('switch', '-q', 'main');
  run('merge', '-q', '--ff-only', 'side');
  // The branch that was named may go: the commit is what counts.
  run('branch', '-D', 'side');
  assert.deepEqual(seen(await inside()), ['met', 'contains']);
});

test('git: what can never be a reference is refused, and runs nothing of the repository', async (t) => {
  const workspace = makeWorkspace(t);
  const { dir: cwd } = workspace;
  for (const ref of ['', '--upload-pack=x', 'a b', 'no-such', 'HEAD:README.md', '@{'])
    assert.throws(() => readWords(git, ['--', ref], cwd), /cannot watch/, ref);
  assert.throws(() => readWords(git, ['main', '--contains', '--all'], cwd), /no such commit/);
  assert.throws(() => readWords(git, ['main', '--cwd', 'nowhere'], cwd), /nowhere is gone/);
  workspace.git('config', 'core.fsmonitor', `touch ${workspace.path('ran')}`);
  workspace.git('config', 'core.pager', `touch ${workspace.path('ran')}`);
  await lookOnce(git, ['main'], { cwd });
  assert.throws(() => workspace.read('ran'), /ENOENT/);
  const { input } = readWords(git, ['main'], cwd);
  rmSync(workspace.path('.git'), { recursive: true });
  const answer = await git.look(input, makeTools(), null);
  assert.deepEqual([answer.kind, answer.kind === 'fault' && answer.cause], ['fault', 'not_found']);
});

test('git: a commit is told at once where the system can tell', async (t) => {
  const { dir: cwd, git: run } = makeWorkspace(t);
  const { input } = readWords(git, ['main'], cwd);
  let woken = false;
  const stop = git.early(input, () => {
    woken = true;
  });
  try {
    run('commit', '-q', '--allow-empty', '-m', 'More');
    await eventually('a wake-up', () => woken);
  } finally {
    stop();
  }
});

test('cmd: what each exit code means is said by the caller', async (t) => {
  const { dir: cwd } = makeWorkspace(t, { git: false });
  const verdictOf = async (code: number, ...args: string[]) => {
    const answer = await look(cmd, [...args, '--', '/bin/sh', '-c', `echo first; echo last line; exit ${code}`], {
      cwd,
    });
    return answer.kind === 'look' ? [answer.verdict, answer.facts.exit_code, answer.evidence] : answer.kind;
  };
  assert.deepEqual(await verdictOf(0), ['met', 0, 'exit code 0: last line']);
  assert.deepEqual(await verdictOf(1), ['pending', 1, 'exit code 1: last line']);
  const several = ['--met-exit', '3', '--met-exit', '4', '--fail-exit', '0'];
  assert.deepEqual(await verdictOf(4, ...several), ['met', 4, 'exit code 4: last line']);
  assert.deepEqual(await verdictOf(0, ...several), ['failed', 0, 'exit code 0: last line']);
  assert.equal(await verdictOf(127), 'fault');
  assert.deepEqual(await verdictOf(127, '--fail-exit', '127'), ['failed', 127, 'exit code 127: last line']);
});

test('cmd: a program without its interpreter, and one that went, are named', async (t) => {
  const { dir: cwd, write } = makeWorkspace(t, { git: false });
  const program = write('tool', '#!/no/such/interpreter\n');
  chmodSync(program, 0o755);
  const answer = await look(cmd, ['--', program], { cwd });
  assert.ok(answer.kind === 'fault' && answer.cause === 'tool_missing' && answer.message.includes(program));
  const { input } = readWords(cmd, ['--', program], cwd);
  unlinkSync(program);
  const gone = await (cmd as Watch).look(input, makeTools({ cwd }), null);
  assert.ok(gone.kind === 'fault' && gone.message.includes(program));
});

test('cmd: words reach the program unchanged, and it gets no input', async (t) => {
  const { dir: cwd } = makeWorkspace(t, { git: false });
  const words = ['--for', 'a b', '$(x)', "it's", ''];
  const text = 'printf "<%s>" "$@"; cat';
  const { evidence } = await lookOnce(cmd, ['--', '/bin/sh', '-c', text, 'sh', ...words], { cwd });
  assert.equal(evidence, `exit code 0: ${words.map((word) => `<${word}>`).join('')}`);
});
