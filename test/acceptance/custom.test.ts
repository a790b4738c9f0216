/**
 * The custom backend (contract 1, 4, 9): any program of the user's own config as staff. Its task arrives byte for byte by
 * stdin, file and argument; its answer is its stdout as it is; success needs exit 0 and a non-empty answer; what it cannot
 * keep (a conversation, the restricted profile) is refused with the reason.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseReply, type RunOptions, type RunResult, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

/** Tells what reached it: its arguments, its stdin, a file it was given, its folder and some of its environment. */
const tellScript = `
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const digest = (bytes) => ({ bytes: bytes.length, sha: createHash('sha256').update(bytes).digest('hex') });
const args = process.argv.slice(2);
const file = args.find((arg) => arg.startsWith('file='))?.slice(5);
console.log(JSON.stringify({
  args: args.map((arg) => (arg.length > 200 ? digest(Buffer.from(arg)) : arg)),
  last: digest(Buffer.from(args.at(-1) ?? '')),
  stdin: digest(fs.readFileSync(0)),
  file: file ? digest(fs.readFileSync(file)) : null,
  cwd: process.cwd(),
  env: { id: process.env.JOB_ID, owner: process.env.JOB_OWNER, state: process.env.JOB_STATE_DIR ?? null },
}));`;

interface Told {
  args: unknown[];
  last: Digest;
  stdin: Digest;
  file: Digest | null;
  cwd: string;
  env: { id: string; owner: string; state: string | null };
}

interface Digest {
  bytes: number;
  sha: string;
}

const hazards = [
  '--model x',
  '--help',
  '--',
  '-',
  'word',
  ' leading and trailing ',
  '{prompt} {prompt_file} $& $1 $$ %s %% \\n \\0 \\',
  '"double" \'single\' `touch pwned` $(touch pwned) ${HOME} $HOME ; touch pwned & | < > # ! ~ * ? [a] {b,c}',
  'two\nlines\r\nand\ttabs\n\n',
  '\u{1f600} e\u0301 \u4f60\u597d \u202eright-to-left\u202c \ufeff \ufffd \u0001\u001b[31m \u007f\u0085',
  "it's\n'\"'\"'\n",
];

for (const by of ['stdin', 'file', 'argument'] as const) {
  test(`by ${by}, every task reaches the program byte for byte, from --prompt, --prompt-file and --stdin`, async (t) => {
    const workspace = makeTeller(t);
    for (const prompt of [...hazards, hazards.join('\n')]) {
      const file = join(workspace.base, 'task');
      writeFileSync(file, prompt);
      const ways: [args: string[], options?: RunOptions][] = [[['--prompt', prompt]], [['--prompt-file', file]]];
      ways.push([['--stdin'], { input: prompt }]);
      for (const [args, options] of prompt.length > 300 ? ways : ways.slice(0, 1)) {
        assertArrived(by, prompt, tell(await ask(workspace, by, args, options)));
      }
    }
    assert.equal(existsSync(workspace.path('pwned')), false);
  });
}

test('by stdin and file, a task of exactly 1 MiB arrives whole', async (t) => {
  const workspace = makeTeller(t);
  const prompt = `${'x"\n\u{1f600}'.repeat(149_796)}1234`;
  assert.equal(Buffer.byteLength(prompt), 1024 * 1024);
  const file = join(workspace.base, 'task');
  writeFileSync(file, prompt);
  for (const by of ['stdin', 'file'] as const) {
    assertArrived(by, prompt, tell(await ask(workspace, by, ['--prompt-file', file])));
    assertArrived(by, prompt, tell(await ask(workspace, by, ['--stdin'], { input: prompt })));
  }
});

test('by argument, a task above the limit of the system or with a NUL is refused before anything starts', async (t) => {
  const workspace = makeTeller(t);
  const fits = 'x'.repeat(131_071);
  const file = join(workspace.base, 'task');
  writeFileSync(file, fits);
  assertArrived('argument', fits, tell(await ask(workspace, 'argument', ['--prompt-file', file])));
  const jobs = readdirOf(workspace);
  const tooMuch: [task: string, why: RegExp][] = [
    [`${fits}x`, /argument of 131072 bytes is too long; allowed: 131071 bytes/],
    ['é'.repeat(70_000), /argument of 140000 bytes is too long/],
    ['a\0b', /NUL/],
  ];
  for (const [task, why] of tooMuch) {
    const refused = await ask(workspace, 'argument', ['--stdin'], { input: task });
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, why);
    assert.match(refused.stderr, /\ntry: set "prompt": "stdin" for it in your config\n/);
  }
  assert.deepEqual(readdirOf(workspace), jobs);
  assert.equal((await ask(workspace, 'stdin', ['--stdin'], { input: 'a\0b' })).code, 0);
});

test('a placeholder stands where the config says, more than once, and is not looked for in the task', async (t) => {
  const workspace = makeTeller(t, {
    extra: { placed: { argv: ['tell', 'a', '<{prompt}|{prompt}>', 'b'], prompt: 'argument' } },
  });
  const { args } = tell(await ask(workspace, 'placed', ['--prompt', '{prompt}$&']));
  assert.deepEqual(args, ['a', '<{prompt}$&|{prompt}$&>', 'b']);
});

test('the program runs in the folder that was asked for and knows its job, not the state folder of its caller', async (t) => {
  const workspace = makeTeller(t);
  mkdirSync(workspace.path('a folder'));
  const options = { env: { JOB_STATE_DIR: join(workspace.base, 'state'), JOB_OWNER: 'caller' } };
  const reply = await ask(workspace, 'stdin', ['--prompt', 'x', '--cwd', 'a folder'], options);
  const { cwd, env } = tell(reply);
  const id = /staffer-\w+-\w+/.exec(reply.stderr)?.[0];
  assert.deepEqual([cwd, env], [workspace.path('a folder'), { id, owner: id, state: null }]);
});

test('the answer is stdout as it is, also when it is no text', async (t) => {
  const bytes = Buffer.from([0x4f, 0x6b, 0xe9, 0x00, 0xff, 0xc3, 0x0a, 0x0a]);
  const workspace = makeTeller(t, { extra: { bytes: { argv: ['cat', 'answer'] } } });
  writeFileSync(workspace.path('answer'), bytes);
  const reply = await ask(workspace, 'bytes', ['--prompt', 'x']);
  assert.equal(reply.code, 0);
  assert.deepEqual(reply.stdoutBytes, bytes);
  assert.deepEqual((await run(workspace, ['result'])).stdoutBytes, bytes);
});

test('an answer whose characters come byte by byte, without a last newline, is whole', async (t) => {
  const slow = `for (const b of Buffer.from(require('fs').readFileSync(0))) require('fs').writeSync(1, Buffer.from([b]))`;
  const workspace = makeTeller(t, { extra: { slow: { argv: [process.execPath, '-e', slow] } } });
  const prompt = '你好 \u{1f600} é кириллица';
  const reply = await ask(workspace, 'slow', ['--prompt', prompt]);
  assert.deepEqual([reply.code, reply.stdout], [0, prompt]);
});

for (const mib of [5, 20, 100]) {
  test(`an answer of ${mib} MiB is delivered whole, or it is said that it is not`, async (t) => {
    const script = `head -c ${mib}M /dev/zero | tr "\\0" x; echo end`;
    const workspace = makeTeller(t, { extra: { long: { argv: ['sh', '-c', script] } } });
    const reply = await ask(workspace, 'long', ['--prompt', 'x']);
    const isWhole = reply.stdoutBytes.length === mib * 1024 * 1024 + 4 && reply.stdout.endsWith('xend\n');
    const isTold = reply.code === 3 || /warning: [^\n]*(left out|cut|truncated|missing)/.test(reply.stderr);
    assert.ok(isWhole || isTold, `${reply.code}, ${reply.stdoutBytes.length} bytes: ${reply.stderr.slice(0, 500)}`);
    if (mib <= 16) assert.ok(isWhole);
  });
}

const failures: [what: string, script: string, error: string, words: RegExp][] = [
  ['a non-zero exit', 'echo part; echo "no licence" >&2; exit 4', 'exit_nonzero', /exited with code 4: no licence/],
  ['an empty answer', 'cat >/dev/null', 'no_final_answer', /the final answer is empty/],
  ['an answer of blanks', 'printf "\\n \\t\\n"', 'no_final_answer', /the final answer is empty/],
  ['an answer on stderr only', 'echo answer >&2', 'no_final_answer', /the final answer is empty/],
  ['a death by signal', 'echo part; kill -9 $$', 'signal', /ended by SIGKILL/],
];
for (const [what, script, code, words] of failures) {
  test(`${what} is failed with ${code}, a report and a way on`, async (t) => {
    const workspace = makeTeller(t, { extra: { bad: { argv: ['sh', '-c', script] } } });
    const reply = await ask(workspace, 'bad', ['--prompt', 'my task']);
    assert.equal(reply.code, 3);
    assert.match(reply.stdout, words);
    assert.match(reply.stdout, /Task: my task\n/);
    assert.match(reply.stdout, /\nStart the same once more: .* restart staffer-/);
    const record = parseReply<{ state: string; error: { code: string } }>(await run(workspace, ['result', '--json']));
    assert.deepEqual([record.state, record.error.code], ['failed', code]);
  });
}

test('the word ERROR on stderr makes no failure of an answer with exit 0', async (t) => {
  const script = 'echo "ERROR: fatal: failed" >&2; echo fine';
  const workspace = makeTeller(t, { extra: { loud: { argv: ['sh', '-c', script] } } });
  const reply = await ask(workspace, 'loud', ['--prompt', 'x']);
  assert.deepEqual([reply.code, reply.stdout], [0, 'fine\n']);
});

test('the restricted profile is refused with the ones that are possible; ask needs one of them', async (t) => {
  const workspace = makeTeller(t);
  for (const args of [['staffer', '--profile', 'restricted'], ['ask']]) {
    const refused = await run(workspace, [...args, '--backend', 'stdin', '--prompt', 'x']);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /profile restricted with backend stdin: .*possible: standard, unrestricted/);
  }
  assert.equal(existsSync(workspace.path('.job-state')), false);
  const asked = await run(workspace, ['ask', '--profile', 'standard', '--backend', 'stdin', '--prompt', 'x']);
  assertArrived('stdin', 'x', tell(asked));
});

test('continue is refused because no conversation is kept, and restart is offered', async (t) => {
  const workspace = makeTeller(t);
  assert.equal((await ask(workspace, 'stdin', ['--prompt', 'x'])).code, 0);
  const { id } = parseReply<{ id: string }>(await run(workspace, ['result', '--json']));
  const refused = await run(workspace, ['continue', '--job', id, '--prompt', 'and then?']);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(
    refused.stderr,
    new RegExp(`cannot continue job ${id}: [^\n]*conversation[^\n]*\ntry: .* restart ${id}\n`),
  );
  const latest = await run(workspace, ['continue', '--prompt', 'and then?']);
  assert.equal(latest.code, 1);
  assert.match(latest.stderr, /cannot find a conversation/);
  assert.equal(readdirOf(workspace).length, 1);
});

test('a program of the config that is not there is told with the searched PATH', async (t) => {
  const workspace = makeTeller(t, { extra: { gone: { argv: ['no-such-agent'] } } });
  const refused = await ask(workspace, 'gone', ['--prompt', 'x']);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /cannot find no-such-agent for backend gone: not on PATH \(\/[^)]+\)/);
  assert.equal(existsSync(workspace.path('.job-state')), false);
});

test('a config that cannot be read or has a wrong form is named, with what is wrong', async (t) => {
  const workspace = makeTeller(t);
  const file = join(workspace.home, '.config/job-companion/config.json');
  const bad: [text: string, why: RegExp][] = [
    ['', /JSON/],
    ['{"backends": {', /JSON/],
    ['[]', /the form is \{"backends"/],
    ['{"backends": {"mine": {}}}', /backends\.mine\.argv/],
    ['{"backends": {"mine": {"argv": []}}}', /backends\.mine\.argv/],
    ['{"backends": {"mine": {"argv": "cat"}}}', /backends\.mine\.argv/],
    ['{"backends": {"mine": {"argv": ["cat"], "prompt": "pipe"}}}', /backends\.mine\.prompt/],
  ];
  for (const [text, why] of bad) {
    writeFileSync(file, text);
    const refused = await run(workspace, ['staffer', '--backend', 'mine', '--prompt', 'x']);
    assert.deepEqual([text, refused.code, refused.stdout], [text, 1, '']);
    assert.match(refused.stderr, /^job-companion: cannot use the config \S+config.json: /, text);
    assert.match(refused.stderr, why, text);
  }
  assert.equal(existsSync(workspace.path('.job-state')), false);
});

test('the default backend of the config is taken when none is named', async (t) => {
  const workspace = makeTeller(t, { rest: { default_backend: 'stdin' } });
  assertArrived('stdin', 'x', tell(await run(workspace, ['staffer', '--prompt', 'x', '--wait'])));
});

test('a changed or removed definition changes no job that has it already, and restart takes the one of now', async (t) => {
  const workspace = makeTeller(t, {
    extra: { mine: { argv: ['sh', '-c', 'until [ -e go ]; do sleep 0.05; done; echo old'] } },
  });
  workspace.defer(() => writeFileSync(workspace.path('go'), ''));
  const launched = await run(workspace, ['staffer', '--id-only', '--backend', 'mine', '--prompt', 'x']);
  const id = launched.stdout.trim();
  await eventually('the job to run', async () => parseReply(await run(workspace, ['observe', id])).state === 'running');
  configure(workspace, { mine: { argv: ['echo', 'new'] } });
  writeFileSync(workspace.path('go'), '');
  assert.equal((await run(workspace, ['wait', id])).stdout, 'old\n');
  assert.equal((await run(workspace, ['restart', id, '--wait'])).stdout, 'new\n');
  configure(workspace, {});
  const gone = await run(workspace, ['restart', id]);
  assert.deepEqual([gone.code, gone.stdout], [1, '']);
  assert.match(gone.stderr, /cannot use backend "mine"/);
});

test('the record holds names of credential variables and never a value', async (t) => {
  const workspace = makeTeller(t);
  const env = { MY_API_KEY: 'sk-very-secret-1', GITHUB_TOKEN: 'ghp_very-secret-2', HARMLESS: 'very-secret-3' };
  assert.equal((await ask(workspace, 'file', ['--prompt', 'x'], { env })).code, 0);
  const { id } = parseReply<{ id: string }>(await run(workspace, ['result', '--json']));
  const spec = JSON.parse(workspace.read(`.job-state/jobs/${id}/spec.json`));
  assert.deepEqual(spec.environment.credentials, ['GITHUB_TOKEN', 'MY_API_KEY']);
  for (const name of readdirOf(workspace, id)) {
    const text = readFileSync(workspace.path('.job-state/jobs', id, name), 'latin1');
    assert.doesNotMatch(text, /very-secret/, name);
  }
});

function ask(workspace: Workspace, backend: string, args: string[], options?: RunOptions): Promise<RunResult> {
  return run(workspace, ['staffer', '--wait', '--backend', backend, ...args], options);
}

function tell(reply: RunResult): Told {
  assert.equal(reply.code, 0, reply.stderr + reply.stdout);
  return parseReply<Told & Record<string, unknown>>(reply);
}

function assertArrived(by: 'stdin' | 'file' | 'argument', prompt: string, told: Told): void {
  const expected = digest(Buffer.from(prompt));
  if (by !== 'stdin') assert.equal(told.stdin.bytes, 0);
  const got = { stdin: told.stdin, file: told.file, argument: told.last }[by];
  assert.deepEqual(got, expected, `${by}: ${JSON.stringify(prompt.slice(0, 200))}`);
  assert.equal(told.args.length, by === 'stdin' ? 1 : 2);
}

function digest(bytes: Buffer): Digest {
  return { bytes: bytes.length, sha: createHash('sha256').update(bytes).digest('hex') };
}

interface TellerOptions {
  /** More backends. */
  extra?: Record<string, object>;
  /** More of the config. */
  rest?: object;
}

/** A worktree, and a config with three backends named by the way the task takes. */
function makeTeller(t: TestContext, { extra = {}, rest = {} }: TellerOptions = {}): Workspace {
  const workspace = makeWorkspace(t);
  const script = join(workspace.base, 'tell.cjs');
  writeFileSync(script, tellScript);
  const argv = [process.execPath, script, 'fixed'];
  const backends: Record<string, object> = {
    stdin: { argv },
    file: { argv: [...argv, 'file={prompt_file}'], prompt: 'file' },
    argument: { argv, prompt: 'argument' },
  };
  for (const [name, one] of Object.entries(extra)) {
    const words = (one as { argv: string[] }).argv;
    backends[name] = words[0] === 'tell' ? { ...one, argv: [...argv.slice(0, 2), ...words.slice(1)] } : one;
  }
  configure(workspace, backends, rest);
  return workspace;
}

function configure(workspace: Workspace, backends: Record<string, object>, rest: object = {}): void {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends, ...rest }));
}

/** Names in the folder of the jobs, or the files of one. */
function readdirOf(workspace: Workspace, id = ''): string[] {
  const folder = workspace.path('.job-state/jobs', id);
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => id === '' || entry.isFile())
    .map(({ name }) => name);
}
