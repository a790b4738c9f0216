/** `watch` from the command line to the end: verdicts, bound, trouble, cancel, --once, --repeat, restart, and what is refused. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, untilPid } from '../helpers/jobs.ts';
import { isAlive } from '../helpers/process.ts';
import { launchWatch, makeOracle, newsOf, untilTold } from '../helpers/watches.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('a watch ends when its condition is met: wait prints the evidence, the record has verdict, word and facts', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launchWatch(workspace, ['file', 'out.txt', '--for', '1h']);
  await untilTold(job);
  workspace.write('out.txt', 'four');
  const { code, stdout, stderr } = await run(workspace, ['wait', job.id]);
  assert.deepEqual([code, stdout], [0, `${workspace.path('out.txt')} is there (4 B)\n`]);
  assert.match(stderr, /: done/);
  const record = parseReply<{ watch: Record<string, unknown>; kind: string }>(
    await run(workspace, ['result', job.id, '--json']),
  );
  const { verdict, word, evidence, facts } = record.watch;
  assert.deepEqual(
    [record.kind, verdict, word, `${evidence}\n`, facts],
    ['watch', 'met', 'exists', stdout, { bytes: 4 }],
  );
  assert.deepEqual(newsOf(job), ['missing', 'exists']);
  assert.deepEqual(
    job.events('news').map(({ first, wake }) => [first, wake]),
    [
      [true, undefined],
      [undefined, ['news']],
    ],
  );
});

test('a condition that cannot hold any more is watch_failed; a missing tool is watch_error with its path, and nothing else is run', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'echo no luck; exit 2');
  const failed = await run(workspace, [
    'watch',
    'cmd',
    '--fail-exit',
    '2',
    '--for',
    '1h',
    '--wait',
    '--',
    oracle.program,
  ]);
  assert.equal(failed.code, 3);
  assert.match(failed.stdout, /watch_failed\)\n\nReason: exit code 2: no luck\n/);
  oracle.answer('exit 1');
  const job = await launchWatch(workspace, ['cmd', '--every', '1s', '--for', '1h', '--', oracle.program]);
  await untilTold(job);
  rmSync(oracle.program);
  const { code, stdout } = await run(workspace, ['wait', job.id]);
  assert.equal(code, 3);
  assert.match(stdout, /watch_error/);
  assert.ok(stdout.includes(oracle.program), stdout);
  assert.equal(job.state().error?.code, 'watch_error');
});

test('at its bound it is watch_expired, with what was seen last', async (t) => {
  const workspace = makeWorkspace(t);
  const { code, stdout } = await run(workspace, ['watch', 'file', 'never', '--for', '1s', '--wait']);
  assert.equal(code, 3);
  assert.match(stdout, /timed_out \(watch_expired\)\n\nReason: the bound of 1s was reached; .*never is not there/);
});

test('cancel in the middle of an attempt ends the watch and leaves no process', async (t) => {
  const workspace = makeWorkspace(t);
  const file = workspace.path('pid');
  const oracle = makeOracle(
    workspace,
    `trap '' TERM; echo $$ >'${file}.new'; mv '${file}.new' '${file}'; while :; do sleep 1; done`,
  );
  const job = await launchWatch(workspace, ['cmd', '--for', '1h', '--attempt-timeout', '10m', '--', oracle.program]);
  const program = await untilPid(file);
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
  assert.equal(isAlive(program), false);
  assert.equal((await run(workspace, ['wait', job.id])).code, 4);
  assert.match(job.text('result.md'), /canceled/);
});

test('an attempt that hangs is trouble, and leaves nothing behind, not even what left its group', async (t) => {
  const workspace = makeWorkspace(t);
  const file = workspace.path('pid');
  const runaway = `setsid sh -c 'echo $$ >${file}.new; mv ${file}.new ${file}; exec sleep 600' &`;
  const oracle = makeOracle(workspace, `${runaway} sleep 600`);
  const words = ['cmd', '--for', '1h', '--attempt-timeout', '1s', '--', oracle.program];
  const job = await launchWatch(workspace, words);
  const left = await untilPid(file);
  await eventually('trouble', () => job.events('trouble').length === 1, { limitMs: 20_000 });
  await eventually('what was left to be gone', () => !isAlive(left));
  assert.equal(job.events('trouble')[0]?.cause, 'timeout');
  assert.equal(job.state().state, 'running');
  assert.equal((await run(workspace, ['cancel', job.id])).code, 0);
});

test('failed attempts are told once and end when it can look again: five of them, then met', async (t) => {
  const workspace = makeWorkspace(t);
  // An attempt that floods is one that failed.
  const oracle = makeOracle(workspace, 'exec yes');
  const words = ['cmd', '--every', '1s', '--for', '1h', '--', oracle.program];
  const job = await launchWatch(workspace, words);
  await eventually('five attempts', () => oracle.calls() >= 5, { limitMs: 50_000 });
  oracle.answer('echo fine');
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '2m'])).code, 0);
  const told = job.events().filter(({ type }) => ['news', 'trouble', 'recovered'].includes(type));
  assert.deepEqual(
    told.map(({ type }) => type),
    ['trouble', 'recovered', 'news'],
  );
  assert.ok(Number(told[1]?.after) >= 5);
  assert.equal(job.state().watch?.troubles, 0);
});

test('--tolerate ends it with watch_error after so many failed attempts', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'exec yes');
  const words = ['watch', 'cmd', '--every', '1s', '--tolerate', '1', '--for', '1h', '--wait', '--', oracle.program];
  const { code, stdout } = await run(workspace, words);
  assert.equal(code, 3);
  assert.match(stdout, /watch_error[\s\S]*2 attempts in a row failed \(--tolerate 1\)/);
  assert.equal(oracle.calls(), 2);
});

test('--repeat tells every change until the bound', async (t) => {
  const workspace = makeWorkspace(t);
  const oracle = makeOracle(workspace, 'exit 1');
  const job = await launchWatch(workspace, ['cmd', '--every', '1s', '--repeat', '--for', '20s', '--', oracle.program]);
  await untilTold(job, 1);
  oracle.answer('exit 0');
  await untilTold(job, 2);
  oracle.answer('exit 3');
  await untilTold(job, 3);
  assert.equal(job.state().state, 'running');
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '1m'])).code, 3);
  assert.deepEqual(newsOf(job), ['pending', 'met', 'pending']);
  assert.match(
    job.state().error?.message ?? '',
    /the bound of 20s was reached; it was watched to its end as asked, 2 changes told; the last: exit code 3/,
  );
  const { stdout } = await run(workspace, ['result', job.id]);
  assert.match(
    stdout,
    /\n## Going on\n\nIt was watched to its end, as asked: nothing failed\. To watch on .* restart /,
  );
  const { watch, state, error } = parseReply<{
    watch: Record<string, unknown>;
    state: string;
    error: { code: string };
  }>(await run(workspace, ['result', job.id, '--json']));
  assert.deepEqual([state, error.code], ['timed_out', 'watch_expired']);
  assert.deepEqual([watch.changes, watch.watched_to_end], [2, true]);
});

test('a change between the launch and the first look is not lost', async (t) => {
  const workspace = makeWorkspace(t);
  const file = workspace.write('config', 'one');
  const { stdout } = await run(workspace, ['watch', 'file', 'config', '--changed', '--for', '1h', '--id-only']);
  writeFileSync(file, 'one more');
  const { code } = await run(workspace, ['wait', stdout.trim()]);
  assert.equal(code, 0);
});

test('restart watches the same condition with a fresh bound, and a fresh start', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('config', 'one');
  const words = ['watch', 'file', 'config', '--changed', '--for', '1s', '--wait', '--json'];
  const { id } = parseReply<{ id: string }>(await run(workspace, words));
  workspace.write('config', 'changed while nobody watched');
  const again = await run(workspace, ['restart', id, '--id-only']);
  const job = findJob(workspace, again.stdout.trim());
  assert.equal((await run(workspace, ['wait', job.id])).code, 3);
  const spec = job.json<{ deadline_ms: number; lineage: { parent: string } }>('spec.json');
  assert.deepEqual([spec.deadline_ms, spec.lineage.parent], [1_000, id]);
  assert.deepEqual(newsOf(job), ['unchanged']);
});

test('--once looks now, makes nothing, and exits with the verdict', async (t) => {
  const workspace = makeWorkspace(t);
  const once = (...words: string[]) => run(workspace, ['watch', ...words]);
  const pending = await once('file', 'out.txt', '--once');
  assert.deepEqual([pending.code, pending.stdout], [2, `${workspace.path('out.txt')} is not there\n`]);
  workspace.write('out.txt', 'x');
  assert.equal((await once('file', 'out.txt', '--once')).code, 0);
  assert.equal((await once('cmd', '--once', '--fail-exit', '7', '--', '/bin/sh', '-c', 'exit 7')).code, 3);
  const broken = workspace.write('broken', '#!/no/such/interpreter\n');
  chmodSync(broken, 0o755);
  const error = await once('cmd', '--once', '--json', '--', broken);
  assert.equal(error.code, 3);
  const line = parseReply(error);
  assert.deepEqual([line.verdict, line.state, line.type, line.id], ['error', 'tool_missing', 'status', null]);
  assert.equal((await once('pid', '999999999', '--once')).code, 0);
  assert.equal(existsSync(workspace.path('.job-state')), false);
});

const refused: [words: string[], reason: RegExp][] = [
  [[], /cannot watch without a condition; there are .*\bfile\b.*\bcmd\b/],
  [
    ['sunrise', '--for', '1h'],
    /cannot watch "sunrise": there is no such condition; there are file, dir, pid, job, git, cmd/,
  ],
  [['__proto__', '--for', '1h'], /there is no such condition/],
  [['--for', '1h', 'file', 'x'], /cannot take --for there: what to watch comes first/],
  [['file', 'x'], /cannot watch without a bound[\s\S]*watch file --for 2h x\n/],
  [['file', 'x', '--for', '0s'], /allowed: 1s to 365d/],
  [['file', 'x', '--for', '366d'], /allowed: 1s to 365d/],
  [['file', 'x', '--for', '-5s'], /is no duration/],
  [['file', 'x', '--for', '99999999999999999999d'], /out of range/],
  [['file', 'x', '--for', '1h', '--every', '999ms'], /cannot take --every 999ms: it is out of range; allowed: 1s/],
  [['http', 'http://localhost/', '--for', '1h', '--every', '4s'], /cannot take --every 4s.*allowed: 5s/],
  [['file', 'x', '--for', '1h', '--met-exit', '1'], /cannot take option --met-exit: watch file knows .*--contains/],
  [['file', 'x', '--for', '1h', '--exists', '--gone'], /--exists and --gone together/],
  [['file', '--for', '1h'], /the form is watch file PATH/],
  [['file', 'x', '--for', '1h', '--matches', '(a'], /no regular expression/],
  [['file', 'x', '--once', '--repeat'], /--once and --repeat together/],
  [['file', 'x', '--once', '--for', '1h'], /--once and --for together/],
  [['file', 'x', '--for', '1h', '--foreground', '--wait'], /--foreground and --wait together/],
  [['pid', '1', '--for', '1h'], /cannot watch process "1"/],
  [['pid', '0', '--for', '1h'], /cannot watch process "0"/],
  [['pid', '-7', '--for', '1h'], /cannot take option -7/],
  [['pid', '999999999', '--for', '1h'], /there is none of that number/],
  [['job', 'no-such-id', '--for', '1h'], /no-such-id/],
  [['job', 'run-mik3x9ab-4f7q2z', '--for', '1h'], /cannot find job run-mik3x9ab-4f7q2z/],
  [['cmd', '--for', '1h', '--', 'sh', '-c', 'true'], /give the whole path[\s\S]*-- \/\S+\/sh -c true/],
  [['cmd', '--for', '1h', '--', './tool'], /give the whole path/],
  [['cmd', '--for', '1h', '--', '/no/such/tool'], /no executable file/],
  [['cmd', '--for', '1h'], /without a command/],
  [['cmd', '--for', '1h', '--met-exit', '256', '--', '/bin/true'], /--met-exit "256"/],
  [['cmd', '--for', '1h', '--met-exit', '2', '--fail-exit', '2', '--', '/bin/true'], /as both/],
  [['git', 'no-such-branch', '--for', '1h'], /there is no such branch/],
  [['git', 'main', '--for', '1h', '--cwd', '/'], /not a git repository/],
  [['git', 'main', '--for', '1h', '--contains', 'feedfeed'], /there is no such commit/],
  [['dir', 'README.md', '--for', '1h'], /is none/],
  [['file', '.', '--for', '1h'], /is a folder/],
];
test('what can never be watched is refused with 1, with what is allowed, and nothing is made', async (t) => {
  const workspace = makeWorkspace(t);
  for (const [words, reason] of refused) {
    const { code, stdout, stderr } = await run(workspace, ['watch', ...words]);
    assert.deepEqual([code, stdout], [1, ''], words.join(' '));
    assert.match(stderr, reason, words.join(' '));
    assert.equal(existsSync(workspace.path('.job-state')), false, words.join(' '));
  }
});

test('help lists the kinds, and each kind has its page', async (t) => {
  const workspace = makeWorkspace(t);
  for (const words of [
    ['watch', '--help'],
    ['help', 'watch'],
  ]) {
    const { code, stdout } = await run(workspace, words);
    assert.equal(code, 0);
    for (const kind of ['file', 'dir', 'pid', 'job', 'git', 'cmd', 'http'])
      assert.match(stdout, new RegExp(`^${kind} `, 'm'));
  }
  for (const words of [
    ['watch', 'git', '--help'],
    ['help', 'watch', 'git'],
  ]) {
    const { code, stdout } = await run(workspace, words);
    assert.equal(code, 0);
    assert.match(stdout, /^watch git REF/);
    assert.match(stdout, /--contains COMMIT/);
  }
});

test('a once-key gives the same watch, also when things have changed meanwhile', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('inbox'));
  const words = ['watch', 'dir', 'inbox', '--new', '*', '--for', '1h', '--once-key', 'k', '--id-only'];
  const first = await run(workspace, words);
  workspace.write('inbox/a', '');
  const second = await run(workspace, words);
  assert.deepEqual([second.code, second.stdout], [0, first.stdout]);
  assert.equal((await run(workspace, ['wait', first.stdout.trim()])).code, 0);
  assert.match(readFileSync(findJob(workspace, first.stdout.trim()).path('result.md'), 'utf8'), /new in .*inbox: a/);
});
