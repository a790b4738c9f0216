/**
 * Bad input (contract 11): each refused command line is exit 1 and one useful sentence, and nothing at all is created or
 * changed, neither in the worktree nor in the home. What is refused is what the user got wrong, named as such.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import test from 'node:test';
import { parseReply, type RunOptions, run } from '../helpers/companion.ts';
import { launch, untilGone } from '../helpers/jobs.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

type Refused = [args: string[], message: RegExp, options?: RunOptions];

test('an unknown command, option or word is refused with what there is', async (t) => {
  const workspace = makeWorkspace(t);
  const task = ['--prompt', 'x'];
  await refuseAll(workspace, [
    [['frobnicate'], /no such command; there are run, watch, staffer, research, review,/],
    [[''], /no such command/],
    [['constructor'], /no such command/],
    [['../run'], /no such command/],
    [['help', 'frobnicate'], /there are run, watch/],
    [['run', '--frobnicate', '--', 'true'], /option --frobnicate: run knows --timeout/],
    [['run', '-t', '5s', '--', 'true'], /option -t: run knows --timeout/],
    [['run', '--timeout', '5s', '--timeout', '6s', '--', 'true'], /--timeout twice/],
    [['run', '--timeout', '5s', '--deadline', '6s', '--', 'true'], /--timeout and --deadline together/],
    [['run', '--timeout'], /--timeout without a value/],
    [['run', '--json=yes', '--', 'true'], /value for --json: it is a switch/],
    [['run'], /without a command: the form is run \[options\] -- COMMAND/],
    [['run', '--'], /without a command/],
    [['run', 'echo', 'hi'], /"echo" "hi": the form is run .*\ntry: put -- before the command/],
    [['run', '--', '--timeout', '10m', 'sleep', '1'], /options go before --\ntry: .* run --timeout 10m -- sleep 1\n/],
    [['run', '--', '--frobnicate'], /options go before --\ntry: .* run --help\n/],
    [
      ['watch', 'cmd', '--fail-exit', '2', '--', '/bin/true', 'x', '--for', '1h'],
      /without a bound: .*options go before --: .*\ntry: .* watch cmd --fail-exit 2 --for 1h -- \/bin\/true x\n/,
    ],
    [['watch', 'cmd', '--', '/bin/true', '--x'], /bound: [^;]*\ntry: .* watch cmd --for 2h -- \/bin\/true --x\n/],
    [['run', '--shell', '--', 'echo', 'hi'], /2 words with --shell/],
    [['run', '--wait-timeout', '5s', '--', 'true'], /--wait-timeout without --wait/],
    [['run', '--id-only', '--wait', '--', 'true'], /--id-only and --wait together/],
    [['run', '--once-key', '', '--', 'true'], /--once-key "": a key needs at least one character/],
    [['run', '--state-dir', '', '--', 'true'], /--state-dir "": it needs the path of a folder/],
    [['staffer', 'do it'], /"do it": the form is staffer/],
    [['staffer', '--backend', 'nobody', ...task], /backend "nobody": there are agy, claude, codex,/],
    [['staffer', '--backend', 'custom', ...task], /backend "custom"/],
    [['staffer', '--backend', '../codex', ...task], /backend "..\/codex"/],
    [['staffer', '--backend', 'constructor', ...task], /backend "constructor"/],
    [['staffer', '--profile', 'root', ...task], /--profile "root": allowed are restricted, standard, unrestricted/],
    [['status', 'run-a', 'run-b'], /"run-b": the form is status \[ID\]/],
    [['cancel'], /cancel: ID is missing; the form is cancel ID/],
    [['restart'], /restart: ID is missing; the form is restart ID/],
    [['watch', 'file', '--for', '1m'], /watch file: PATH is missing; the form is watch file PATH --for D/],
    [['wait', '--any', '--all'], /--any and --all together/],
    [['continue', '--job', 'run-a', '--conversation', 'c', ...task], /--job and --conversation together/],
  ]);
});

test('options of run that need another one, or cannot be meant, are refused with what is allowed', async (t) => {
  const workspace = makeWorkspace(t);
  const words = (...options: string[]) => ['run', ...options, '--', 'touch', 'pwned'];
  workspace.write('file', '');
  mkdirSync(workspace.path('folder'));
  await refuseAll(workspace, [
    [words('--pipefail'), /--pipefail without --shell/],
    [words('--identity', 'x'), /--identity without --status-cmd/],
    [words('--status-cmd', 'x'), /--status-cmd without --identity/],
    [words('--status-cmd', ' ', '--identity', 'x'), /an empty --status-cmd: allowed is one line for \/bin\/sh/],
    [words('--status-cmd', 'x', '--identity', ' '), /--identity " ": allowed is one line that names one task/],
    [words('--status-cmd', 'x', '--identity', 'a\nb'), /--identity "a\\nb": allowed is one line/],
    [words('--status-cmd', 'x', '--identity', 'x'.repeat(1025)), /--identity of 1025 bytes: at most 1024/],
    [words('--probe', ''), /an empty --probe: allowed is one line for \/bin\/sh/],
    [words('--probe', 'x'.repeat(40_000)), /--probe of 40000 bytes: at most 32768/],
    [words('--probe-timeout', '3s'), /--probe-timeout without --probe/],
    [words('--on-stall', ''), /an empty --on-stall/],
    [words('--on-stall', 'x'.repeat(4097)), /--on-stall of 4097 bytes: at most 4096/],
    [words('--success-file', ''), /--success-file "": allowed is a path/],
    [words('--success-file', 'folder'), /--success-file .*folder: it is a folder\ntry: name a file in it/],
    [words('--success-file', 'new/'), /it names a folder; name a file in it/],
    [words('--success-file', 'a', '--success-file', './a'), /--success-file twice for/],
    [words('--success-file', 'file/x'), /file is no folder/],
    [words('--result', ''), /--result "": allowed is a path/],
    [words('--result', 'a\nb'), /a path may hold no line end/],
    [words('--result', 'file/x/y'), /file is no folder/],
    [words('--log', ''), /--log "": allowed is a path/],
    [words('--log', 'folder'), /--log .*folder: it is a folder/],
    [words('--log', 'a', '--log', 'b'), /--log twice/],
    [words('--checkpoint-every', '60'), /--checkpoint-every: "60" is no duration; allowed: 100ms to 30d/],
    [words('--checkpoint-every', '-5s'), /"-5s" is no duration/],
    [words('--checkpoint-every', '0s'), /--checkpoint-every 0s: it is out of range; allowed: 100ms to 30d/],
    [words('--sample-every', `${'9'.repeat(400)}h`), /it is out of range/],
    [words('--expect', '2y'), /"2y" is no duration/],
    [words('--probe', 'x', '--probe-timeout', '1h'), /out of range; allowed: 100ms to 5m/],
    [words('--success-exit', '256'), /whole numbers from 0 to 255/],
    [words('--success-exit', '99999999999999999999'), /whole numbers from 0 to 255/],
    [words('--success-exit', '1e2'), /whole numbers from 0 to 255/],
    [words('--prompt', 'x'), /option --prompt: run knows/],
    [words('--backend', 'codex'), /option --backend: run knows/],
  ]);
});

test('the placeholder of a printed command is no task', async (t) => {
  const workspace = makeWorkspace(t);
  const words = (verb: string, ...more: string[]) => [verb, ...more, '--prompt', '<what to do next>'];
  const refusal = /cannot take "<what to do next>" as the task.*\ntry: put what the agent is to do in its place/;
  await refuseAll(workspace, [
    [words('continue', '--job', 'staffer-mik3xa01-9c2k4d'), refusal],
    [words('staffer'), refusal],
  ]);
});

test('an option with the name of something that every object has is refused like any other', async (t) => {
  const workspace = makeWorkspace(t);
  const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
  await refuseAll(
    workspace,
    names.flatMap((name): Refused[] => [
      [['run', `--${name}`, '--', 'true'], new RegExp(`option --${name}`)],
      [['run', `--${name}=x`, '--', 'true'], new RegExp(`option --${name}`)],
    ]),
  );
});

test('--json gives a refusal as one document with its code', async (t) => {
  const workspace = makeWorkspace(t);
  const refused = await run(workspace, ['wait', 'run-zzzzzzzz-zzzzzz', '--json']);
  const { error } = parseReply<{ error: { code: string; message: string } }>(refused);
  assert.deepEqual([refused.code, error.code], [1, 'unknown_job']);
  assert.match(error.message, /cannot find job run-zzzzzzzz-zzzzzz/);
  const usage = await run(workspace, ['run', '--id-only', '--json', '--', 'touch', 'ran']);
  assert.equal(parseReply<{ error: { code: string } }>(usage).error.code, 'usage');
  assert.equal(usage.code, 1);
  assert.deepEqual(readdirSync(workspace.dir).sort(), ['.git', 'README.md']);
});

test('--json behind -- belongs to the command and changes no refusal', async (t) => {
  const workspace = makeWorkspace(t);
  const refused = await run(workspace, ['run', '--', 'no-such-program', '--json']);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
});

test('--help anywhere before -- shows the help and does nothing else', async (t) => {
  const workspace = makeWorkspace(t);
  const before = withoutCache(picture(workspace));
  const lines = [
    ['run', '--help'],
    ['run', '--timeout', '5s', '--help', '--', 'touch', 'ran'],
    ['run', '--help', '--', 'touch', 'ran'],
    ['staffer', '--prompt', 'x', '--help'],
    ['clean', '--yes', '--help'],
    ['cancel', 'run-zzzzzzzz-zzzzzz', '--help'],
  ];
  for (const args of lines) {
    const { code, stdout } = await run(workspace, args);
    assert.deepEqual([args, code, stdout.split(' ')[0]], [args, 0, args[0]]);
  }
  assert.deepEqual(withoutCache(picture(workspace)), before);
});

test('ids that no job can have are refused by every command and nothing is made for them', async (t) => {
  const workspace = makeWorkspace(t);
  const ids = [
    'run-zzzzzzzz-zzzzzz',
    '../../etc/passwd',
    'run/..',
    '..',
    '.',
    '',
    '/',
    'RUN-ABCDEFGH-ABCDEF',
    'run-a\nb',
  ];
  const commands: string[][] = [['wait'], ['observe'], ['status'], ['result'], ['cancel'], ['restart'], ['doctor']];
  const lines = commands.flatMap((words) =>
    ids.map((id): Refused => [[...words, id], /cannot (find job|take ".*" as a)/]),
  );
  lines.push([['continue', '--prompt', 'x', '--job', '../x'], /cannot take "..\/x" as a job id/]);
  lines.push([['continue', '--prompt', 'x', '--conversation', '../x'], /cannot find conversation/]);
  await refuseAll(workspace, lines);
});

const noDuration = ['10', '-5s', '2y', '', 'abc', '1h30', '1e3s', '5 s', ' 5s', '+5s', '0x5s', 'Infinitys', '5s;true'];

test('a malformed or excessive duration is refused with the allowed range', async (t) => {
  const workspace = makeWorkspace(t);
  const inRun = (name: string, value: string) => ['run', `--${name}`, value, '--', 'true'];
  const inStaffer = (name: string, value: string) => ['staffer', '--prompt', 'x', `--${name}`, value];
  await refuseAll(workspace, [
    ...noDuration.map((text): Refused => [inRun('timeout', text), /--timeout.* is no duration; allowed: 50ms to 30d/]),
    [inRun('timeout', '0s'), /--timeout 0s: it is out of range; allowed: 50ms to 30d/],
    [inRun('timeout', '31d'), /--timeout 31d: it is out of range; allowed: 50ms to 30d/],
    [inRun('timeout', '99999999999999999999999d'), /out of range; allowed: 50ms to 30d/],
    [inRun('deadline', '2y'), /--deadline.*allowed: 50ms to 30d/],
    [inRun('kill-after', '6m'), /--kill-after 6m.*allowed: 0ms to 5m/],
    [inRun('first-output', '0s'), /--first-output 0s.*allowed: 1s to 30d/],
    [inRun('stall-after', '5'), /--stall-after.*allowed: 1s to 30d/],
    [['run', '--wait', '--wait-timeout', '5', '--', 'true'], /--wait-timeout.*allowed: 0ms on, written like/],
  ]);
  withBackend(workspace);
  await refuseAll(workspace, [
    [[...inStaffer('timeout', '0s'), '--backend', 'cat'], /--timeout 0s.*allowed: 1s to 2h/],
    [[...inStaffer('timeout', '121m'), '--backend', 'cat'], /--timeout 121m.*allowed: 1s to 2h/],
    [[...inStaffer('timeout', '60'), '--backend', 'cat'], /--timeout.*allowed: 1s to 2h/],
    [[...inStaffer('stall-after', '-1s'), '--backend', 'cat'], /--stall-after.*allowed: 1s to 30d/],
  ]);
});

const ofReaders: Refused[] = [
  ...['10', '-5s', '2y', ''].map(
    (text): Refused => [['wait', '--timeout', text], /--timeout.*allowed: 0ms on, written like/],
  ),
  [['wait', '--heartbeat', '0s'], /--heartbeat 0s.*allowed: 1s to 24h/],
  [['observe', '--after-seq', '-1'], /--after-seq "-1": allowed are whole numbers from 0/],
  [['observe', '--after-seq', '1.5'], /--after-seq "1.5"/],
  [['status', '--recent', 'many'], /--recent "many": allowed are whole numbers from 0 to 10000/],
  [['clean', '--older-than', '14'], /--older-than.*allowed: 0ms to 3650d/],
  [['clean', '--keep', '-1', '--yes'], /--keep "-1"/],
];

test('a malformed value of a collecting command is refused with what is allowed', async (t) => {
  const workspace = makeWorkspace(t);
  const job = await launch(workspace, ['--', 'true']);
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  // It keeps V8's compiled code after it let go of the wait.
  await untilGone('the worker', job.identity('worker'));
  await refuseAll(workspace, ofReaders);
});

test('a malformed value is refused as such where there is no job yet, too', async (t) => {
  await refuseAll(makeWorkspace(t), ofReaders);
});

test('a duration with hundreds of digits is out of range too', async (t) => {
  const workspace = makeWorkspace(t);
  await refuseAll(workspace, [
    [['run', '--timeout', `${'9'.repeat(400)}d`, '--', 'true'], /out of range; allowed: 50ms to 30d/],
    [['run', '--kill-after', `1${'0'.repeat(120)}s`, '--', 'true'], /out of range; allowed: 0ms to 5m/],
  ]);
});

test('a malformed number or size is refused with the allowed range', async (t) => {
  const workspace = makeWorkspace(t);
  const inRun = (name: string, value: string): string[] => ['run', `--${name}`, value, '--', 'true'];
  await refuseAll(workspace, [
    ...['-1', '256', '1.5', '1e1', 'x', ''].map(
      (text): Refused => [inRun('success-exit', text), /--success-exit.*allowed are whole numbers from 0 to 255/],
    ),
    ...['0', '-1', '64', '1.5M', '512K', '65G', '99999999999999999999', 'M', '64X', ''].map(
      (text): Refused => [inRun('max-output', text), /--max-output.*allowed are 1.0 MiB to 64.0 GiB, written like 64M/],
    ),
  ]);
});

test('two task sources, none and an empty one are refused', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  writeFileSync(workspace.path('empty.txt'), '');
  writeFileSync(workspace.path('blank.txt'), ' \n\t\n');
  writeFileSync(workspace.path('latin1.txt'), Buffer.from('caf\xe9', 'latin1'));
  mkdirSync(workspace.path('folder'));
  const both = '--prompt, --prompt-file';
  for (const verb of ['staffer', 'ask']) {
    const words = [verb, '--backend', 'cat'];
    await refuseAll(workspace, [
      [words, /exactly one of --prompt TEXT, --prompt-file PATH and --stdin is needed; none was given/],
      [[...words, '--prompt', 'x', '--prompt-file', 'README.md'], new RegExp(`these came together: ${both}`)],
      [[...words, '--prompt', 'x', '--stdin'], /these came together: --prompt, --stdin/, { input: 'y' }],
      [[...words, '--prompt', 'x', '--prompt-file', 'README.md', '--stdin'], /--prompt-file, --stdin/, { input: 'y' }],
      [[...words, '--prompt', ''], /an empty task from --prompt/],
      [[...words, '--prompt', ' \n '], /an empty task from --prompt/],
      [[...words, '--stdin'], /an empty task from --stdin/, { input: '' }],
      [[...words, '--stdin'], /an empty task from --stdin/],
      [[...words, '--prompt-file', 'empty.txt'], /an empty task from --prompt-file/],
      [[...words, '--prompt-file', 'blank.txt'], /an empty task from --prompt-file/],
      [[...words, '--prompt-file', 'nowhere.txt'], /read the task from .*nowhere.txt \(ENOENT\)/],
      [[...words, '--prompt-file', 'folder'], /read the task from .*folder: it is no regular file/],
      [[...words, '--prompt-file', 'latin1.txt'], /no UTF-8 text/],
    ]);
  }
});

test('a task of more than 1 MiB is refused with its size, by file and by stdin', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const text = 'x'.repeat(1024 * 1024 + 1);
  writeFileSync(workspace.path('big.txt'), text);
  const words = ['staffer', '--backend', 'cat'];
  await refuseAll(workspace, [
    [[...words, '--prompt-file', 'big.txt'], /a task of 1048577 bytes: at most 1048576 \(1 MiB\)/],
    [[...words, '--stdin'], /a task of 1048577 bytes: at most 1048576 \(1 MiB\)/, { input: text }],
  ]);
});

test('the size that is named for a task of 3 MiB is its own', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const text = 'x'.repeat(3 * 1024 * 1024);
  writeFileSync(workspace.path('huge.txt'), text);
  await refuseAll(workspace, [
    [['staffer', '--backend', 'cat', '--prompt-file', 'huge.txt'], /3145728 bytes: at most 1048576 \(1 MiB\)/],
  ]);
});

test('a missing folder and a missing program are told apart, and the searched PATH is named', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('bin/folder'), { recursive: true });
  workspace.write('bin/plain', 'no program');
  workspace.write('file', 'no folder');
  const env = { PATH: `${workspace.env.PATH}:${workspace.path('bin')}` };
  const notOnPath = new RegExp(`"[a-z-]*": it is not on PATH \\(${escaped(env.PATH)}\\)`);
  const noFile = /no executable file of that name \(looked from/;
  await refuseAll(workspace, [
    [['run', '--cwd', 'nowhere', '--', 'true'], /cannot run in \S*\/nowhere: there is no such folder/],
    [['run', '--cwd', 'file', '--', 'true'], /cannot run in \S*\/file: there is no such folder/],
    [['run', '--cwd', '', '--cwd', '', '--', 'true'], /--cwd twice/],
    [['run', '--', 'no-such-program'], notOnPath, { env }],
    [['run', '--', 'plain'], notOnPath, { env }],
    [['run', '--', 'folder'], notOnPath, { env }],
    [['run', '--', './nothing'], noFile],
    [['run', '--', './bin/plain'], noFile],
    [['run', '--', './bin'], noFile],
    [['run', '--', ''], /cannot run ""/],
    [['staffer', '--prompt', 'x', '--cwd', 'nowhere'], /cannot run in \S*\/nowhere: there is no such folder/],
    [
      ['staffer', '--prompt', 'x', '--backend', 'codex'],
      /find codex for backend codex: not on PATH \(\/nowhere\)\ntry: install it \(npm install -g @openai\/codex\), or /,
      at('/nowhere'),
    ],
    [['staffer', '--prompt', 'x'], /choose a backend: no agent CLI is on PATH.*\ntry: .* setup$/m, at('/nowhere')],
    [['run', '--', 'true'], /not on PATH \(empty\)/, at('')],
  ]);
});

test('a state folder that cannot be made is refused with its path and the option that moves it', async (t) => {
  const workspace = makeWorkspace(t);
  workspace.write('file', 'no folder');
  const moved = (name: string) =>
    new RegExp(`state folder ${escaped(workspace.path(name))}: .*\ntry: .*--state-dir DIR or JOB_STATE`);
  await refuseAll(workspace, [
    [['run', '--state-dir', 'file', '--', 'true'], moved('file')],
    [['run', '--state-dir', 'file/below', '--', 'true'], moved('file/below')],
    [['run', '--state-dir', 'nowhere/at/all', '--', 'true'], moved('nowhere/at/all')],
    [['run', '--', 'true'], moved('nowhere/at/all'), { env: { JOB_STATE_DIR: 'nowhere/at/all' } }],
  ]);
});

test('a word that is no UTF-8 arrives as it is or is refused; it is never changed silently', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const lines = [
    ['run', '--wait', '--', 'printf', '%s'],
    ['staffer', '--wait', '--backend', 'cat', '--prompt'],
  ];
  for (const args of lines) {
    // Node cannot give such a word to a program; a shell can.
    const latin1 = ['-c', `exec "$0" "$@" "$(printf 'caf\\351')"`, testNode()];
    const { code, stdoutBytes } = await run(workspace, args, { node: 'sh', nodeOptions: latin1 });
    if (code === 0) assert.deepEqual(stdoutBytes, Buffer.from('caf\xe9', 'latin1'), args[0]);
    else assert.deepEqual([code, stdoutBytes.length], [1, 0], args[0]);
  }
});

/** Every line: exit 1, nothing on stdout, one sentence (and at most one line of advice), and not one byte changed. */
async function refuseAll(workspace: Workspace, lines: Refused[]): Promise<void> {
  const before = picture(workspace);
  for (const [args, message, options] of lines) {
    const { code, stdout, stderr } = await run(workspace, args, options);
    const seen = `${args.slice(0, 6).join(' ').slice(0, 200)}: ${code} ${stderr}`;
    assert.deepEqual([code, stdout], [1, ''], seen);
    assert.match(stderr, /^job-companion: cannot [^\n]{10,}\n(try: [^\n]+\n)?$/, seen);
    assert.match(stderr, message, seen);
  }
  assert.deepEqual(picture(workspace), before);
}

/** Every path of the worktree and the home with what it is: mode, time and content. */
function picture(workspace: Workspace): string[] {
  const lines: string[] = [];
  for (const folder of [workspace.dir, workspace.home]) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const { mode, mtimeMs } = lstatSync(path);
      const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      const target = entry.isSymbolicLink() ? readlinkSync(path) : '';
      lines.push(`${relative(workspace.base, path)} ${mode.toString(8)} ${mtimeMs} ${content}${target}`);
    }
  }
  return lines.sort();
}

/** A command that succeeds may keep V8's compiled code in the user's cache folder. */
function withoutCache(lines: string[]): string[] {
  return lines.filter((line) => !line.startsWith('home/.cache'));
}

/** A user's own backend that answers with its task. */
function withBackend(workspace: Workspace): void {
  const folder = join(workspace.home, '.config/job-companion');
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends: { cat: { argv: ['cat'] } } }));
}

function at(path: string): RunOptions {
  return { env: { PATH: path } };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
