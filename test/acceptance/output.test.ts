/**
 * Much output (contract 10, c8, f1, f3): a gigabyte and two million lines stay under the cap on disk, head and tail are what
 * was printed, the omitted bytes are stated and right, the exit code is the command's, and the worker stays small. And few:
 * every byte as it came, characters torn at every byte, no newline at the end.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { testNode } from '../helpers/test-node.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

interface Stream {
  what: string;
  /** A shell command that prints it all. */
  command: string;
  bytes: number;
  capMiB: number;
  /** The bytes of the stream in a range. */
  expected(from: number, to: number): Buffer;
}

const line = `${'a gigabyte of text, '.repeat(6)}line\n`;
const streams: Stream[] = [
  {
    what: '1 GB of zeros',
    command: 'head -c 1G /dev/zero',
    bytes: GIB,
    capMiB: 64,
    expected: (from, to) => Buffer.alloc(to - from),
  },
  {
    what: '1 GB of text',
    command: `yes '${line.trimEnd()}' | head -c 1G`,
    bytes: GIB,
    capMiB: 64,
    expected: (from, to) => {
      const whole = Buffer.from(line.repeat(Math.ceil((to - from) / line.length) + 1));
      return whole.subarray(from % line.length, (from % line.length) + to - from);
    },
  },
  {
    what: '2 million short lines, each written by itself',
    command: `"$NODE" -e 'const w = require("fs").writeSync; for (let i = 0; i < 2e6; i++) w(1, String(1e6 + i) + "\\n")'`,
    bytes: 16_000_000,
    capMiB: 1,
    expected: (from, to) => {
      const lines: string[] = [];
      for (let at = Math.floor(from / 8); at < Math.ceil(to / 8); at += 1) lines.push(`${1e6 + at}\n`);
      return Buffer.from(lines.join('')).subarray(from % 8, (from % 8) + to - from);
    },
  },
];

for (const { what, command, bytes, capMiB, expected } of streams) {
  test(`${what}: under the cap, head and tail kept, omitted bytes stated, exit code right, worker small`, async (t) => {
    const workspace = makeWorkspace(t);
    const [printed, release] = [workspace.path('printed'), workspace.path('release')];
    workspace.defer(() => writeFileSync(release, ''));
    const script = `${command}; echo end >&2; touch ${printed}; until [ -e ${release} ]; do sleep 0.05; done; exit 5`;
    const args = ['run', '--id-only', '--max-output', `${capMiB}M`, '--', 'sh', '-c', script];
    const started = await run(workspace, args, { env: { NODE: process.execPath } });
    assert.equal(started.code, 0, started.stderr);
    const id = started.stdout.trim();
    const output = workspace.path('.job-state/jobs', id, 'output.log');

    let highest = 0;
    await eventually(
      'all to be printed',
      () => {
        highest = Math.max(highest, allocated(output));
        return existsSync(printed);
      },
      { limitMs: 60_000, everyMs: 20 },
    );
    t.diagnostic(
      `${what}: at most ${(highest / MIB).toFixed(1)} MiB allocated while it was printed, cap ${capMiB} MiB`,
    );
    // The child does not wait for the worker, so only what comes after the last bytes is certain.
    await eventually('the cap', () => allocated(output) <= capMiB * MIB);
    const { worker } = JSON.parse(readFileSync(workspace.path('.job-state/jobs', id, 'worker.json'), 'utf8'));
    const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))?.[1]) / 1024;
    t.diagnostic(`${what}: the worker took at most ${peak.toFixed(1)} MiB`);
    assert.ok(peak > 1 && peak < 100, `${peak} MiB`);
    const seen = await run(workspace, ['observe', id]);
    assert.equal(parseReply<{ progress: { stdout_bytes: number } }>(seen).progress.stdout_bytes, bytes);

    writeFileSync(release, '');
    const waited = await run(workspace, ['wait', id]);
    assert.equal(waited.code, 3);
    assert.match(waited.stderr, /exit code 5/);
    const record = parseReply<{ exit_code: number; output: { stdout: Note; stderr: Note } }>(
      await run(workspace, ['result', id, '--json']),
    );
    assert.equal(record.exit_code, 5);
    const { omitted } = record.output.stdout;
    assert.deepEqual(record.output.stdout, { bytes, omitted, exact: true });
    assert.deepEqual(record.output.stderr, { bytes: 4, omitted: 0, exact: true });
    assert.match(waited.stderr, new RegExp(`stdout: ${omitted} of ${bytes} bytes .* are left out in the middle`));

    assert.ok(allocated(output) <= capMiB * MIB, `${allocated(output)} bytes are allocated`);
    assert.equal(statSync(output).size, bytes);
    const head = readPart(output, 0, (capMiB * MIB) / 4);
    assert.ok(head.equals(expected(0, head.length)), 'the head is not what was printed');
    const note = readPart(output, head.length, 4096).toString('latin1');
    assert.equal(note.trim(), `[job-companion: ${omitted} bytes are left out here]`);
    const tail = readPart(output, head.length + omitted, bytes - head.length - omitted);
    assert.ok(tail.length > (capMiB * MIB) / 4, `only ${tail.length} bytes of the tail are kept`);
    assert.ok(tail.equals(expected(bytes - tail.length, bytes)), 'the tail is not what was printed');
  });
}

interface Note {
  bytes: number;
  omitted: number;
  exact: boolean;
}

test('output just below and just above the point of trimming is whole, or says what is missing', async (t) => {
  const workspace = makeWorkspace(t);
  const sizes = [700_000, 786_431, 786_432, 786_433, 1_000_000, MIB, MIB + 1, 2 * MIB + 4095];
  for (const size of sizes) {
    const script = `head -c ${size} /dev/zero | tr '\\0' x`;
    const args = ['run', '--wait', '--json', '--max-output', '1M', '--', 'sh', '-c', script];
    const reply = await run(workspace, args);
    const record = parseReply<{ id: string; output: { stdout: Note }; warnings: unknown[] }>(reply);
    const { bytes, omitted, exact } = record.output.stdout;
    // Our own trimming is no left-over process of the command.
    assert.deepEqual([bytes, exact, record.warnings], [size, true, []]);
    const output = workspace.path('.job-state/jobs', record.id, 'output.log');
    assert.ok(allocated(output) <= MIB, `${size}: ${allocated(output)}`);
    const text = readFileSync(output, 'latin1');
    assert.equal(text.length, size);
    if (omitted === 0) assert.match(text, /^x+$/);
    else
      assert.match(
        text,
        new RegExp(`^x+\n\\[job-companion: ${omitted} bytes are left out here\\]\n *\n\0*x+$`),
        `${size}`,
      );
  }
});

test('where no fallocate is on the PATH, the cap holds all the same and the omission is stated as about', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('bin'));
  for (const name of ['sh', 'seq', 'sleep']) symlinkSync(whereIs(name), workspace.path('bin', name));
  const script = 'for part in 1 2 3 4 5 6; do seq 1000000 1100000; sleep 0.1; done; exit 5';
  const args = ['run', '--id-only', '--max-output', '1M', '--', 'sh', '-c', script];
  const started = await run(workspace, args, { node: testNode(), env: { PATH: workspace.path('bin') } });
  assert.equal(started.code, 0, started.stderr);
  const waited = await run(workspace, ['wait', started.stdout.trim()]);
  assert.equal(waited.code, 3);
  assert.match(waited.stderr, /exit code 5/);
  assert.match(waited.stderr, /stdout: about \d+ of \d+ bytes .* are left out in the middle/);
  assert.match(waited.stdout, /\n1099999\n1100000\n/);
  const record = await run(workspace, ['result', '--json']);
  const { id, exit_code, output } = parseReply<{ id: string; exit_code: number; output: { stdout: Note } }>(record);
  assert.deepEqual([exit_code, output.stdout.exact], [5, false]);
  const file = workspace.path('.job-state/jobs', id, 'output.log');
  assert.ok(allocated(file) <= MIB, `${allocated(file)}`);
  assert.ok(readFileSync(file, 'latin1').startsWith(numbersFrom(1_000_000, 10_000)));
});

test('stderr has a cap of its own', async (t) => {
  const workspace = makeWorkspace(t);
  const script = 'head -c 5M /dev/zero >&2; echo short';
  const args = ['run', '--wait', '--json', '--max-output', '1M', '--', 'sh', '-c', script];
  const { id, output } = parseReply<{ id: string; output: { stdout: Note; stderr: Note } }>(await run(workspace, args));
  assert.deepEqual(output.stdout, { bytes: 6, omitted: 0, exact: true });
  assert.equal(output.stderr.bytes, 5 * MIB);
  assert.ok(output.stderr.omitted > 4 * MIB);
  assert.ok(allocated(workspace.path('.job-state/jobs', id, 'error.log')) <= MIB);
});

const text = 'Ünïcödé: 你好, \u{1f600}\u{1f469}‍\u{1f4bb} é, \u{10ffff} кириллица\n'.repeat(3);

test('characters that are torn at every byte are whole again, on both streams, also without a last newline', async (t) => {
  const workspace = makeWorkspace(t);
  for (const content of [text, text.trimEnd(), '\u{1f600}']) {
    const file = workspace.write('text', content);
    const code = `const fs = require('fs'); for (const b of fs.readFileSync('${file}')) for (const fd of [1, 2]) fs.writeSync(fd, Buffer.from([b]))`;
    const args = ['run', '--id-only', '--', process.execPath, '-e', code];
    const id = (await run(workspace, args)).stdout.trim();
    const { code: exit, stdout } = await run(workspace, ['wait', id]);
    assert.deepEqual([exit, stdout], [0, content]);
    for (const name of ['output.log', 'error.log']) {
      assert.equal(readFileSync(workspace.path('.job-state/jobs', id, name), 'utf8'), content);
    }
  }
});

test('bytes that are no text at all are delivered as they are', async (t) => {
  const workspace = makeWorkspace(t);
  const bytes = Buffer.from([...Array(256).keys(), 0xc3, 0x0a, 0xed, 0xa0, 0x80]);
  writeFileSync(workspace.path('bytes'), bytes);
  const waited = await run(workspace, ['run', '--wait', '--', 'cat', 'bytes']);
  assert.equal(waited.code, 0);
  assert.deepEqual(waited.stdoutBytes, bytes);
  assert.deepEqual((await run(workspace, ['result'])).stdoutBytes, bytes);
});

test('a result is the last 50 lines and at most 8 KiB, never beginning inside a character', async (t) => {
  const workspace = makeWorkspace(t);
  const cases: [what: string, content: string, result: string][] = [
    ['51 lines', numbered(1, 51), numbered(2, 51)],
    ['50 lines', numbered(1, 50), numbered(1, 50)],
    ['60 lines without a last newline', numbered(1, 60).trimEnd(), numbered(11, 60).trimEnd()],
    ['nothing', '', ''],
    ['only newlines', '\n'.repeat(80), '\n'.repeat(50)],
    ['one long line', '€'.repeat(5_000), '€'.repeat(2730)],
    ['one long line, odd', `x${'€'.repeat(5_000)}y`, `${'€'.repeat(2730)}y`],
  ];
  for (const [what, content, result] of cases) {
    workspace.write('text', content);
    const { code, stdout } = await run(workspace, ['run', '--wait', '--', 'cat', 'text']);
    assert.deepEqual([what, code, stdout], [what, 0, result]);
  }
});

test('status and observe of a job that printed a gigabyte of one line are bounded', async (t) => {
  const workspace = makeWorkspace(t);
  const args = ['run', '--id-only', '--', 'sh', '-c', 'head -c 1G /dev/zero | tr "\\0" x; exec sleep 600'];
  const id = (await run(workspace, [...args.slice(0, 1), '--kill-after', '0s', ...args.slice(1)])).stdout.trim();
  workspace.defer(() => run(workspace, ['cancel', id]));
  const output = workspace.path('.job-state/jobs', id, 'output.log');
  await eventually('the gigabyte', () => existsSync(output) && statSync(output).size === GIB, { limitMs: 60_000 });
  const status = await run(workspace, ['status', id]);
  assert.equal(status.code, 2);
  assert.ok(status.stdoutBytes.length < 12_000, `${status.stdoutBytes.length} bytes`);
  const observed = await run(workspace, ['observe', id]);
  assert.equal(observed.code, 2);
  assert.ok(observed.stdoutBytes.length <= 8192, `${observed.stdoutBytes.length} bytes`);
  const { progress } = parseReply<{ progress: { text: string; text_truncated: boolean } }>(observed);
  assert.deepEqual([progress.text, progress.text_truncated], ['x'.repeat(1700), true]);
});

function numbersFrom(first: number, count: number): string {
  return Array.from({ length: count }, (_, at) => `${first + at}\n`).join('');
}

function whereIs(program: string): string {
  return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
}

function numbered(from: number, to: number): string {
  let lines = '';
  for (let at = from; at <= to; at += 1) lines += `line ${at}\n`;
  return lines;
}

function allocated(file: string): number {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? stat.blocks * 512 : 0;
}

function readPart(file: string, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const fd = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, length, from));
  } finally {
    closeSync(fd);
  }
}
