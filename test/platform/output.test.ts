// Writing to the standard streams: whole also through a full pipe, and quiet when the reader has left.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { makeProgram, startProgram } from './child-program.ts';

const size = 400_000;
const code = `import { writeOut } from './platform/output.ts';
  import { closeSync, constants, openSync } from 'node:fs';
  if (process.argv[2]) {
    closeSync(1);
    if (openSync(process.argv[2], constants.O_WRONLY | constants.O_NONBLOCK) !== 1) process.exit(9);
  }
  console.error('begin');
  writeOut(1, 'x'.repeat(${size}) + '\\u00e9');
  writeOut(2, new TextEncoder().encode('end'));
  process.exitCode = 3;`;

test('a text that does not fit into a pipe at once arrives whole', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const { ended } = startProgram(workspace, [makeProgram(workspace, 'write', code)]);
  const { code: exit, stdout, stderr } = await ended;
  assert.equal(exit, 3);
  assert.equal(stdout, `${'x'.repeat(size)}\u00e9`);
  assert.equal(stderr, 'begin\nend');
});

test('a full pipe that somebody made non-blocking is waited for', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const fifo = workspace.path('fifo');
  execFileSync('mkfifo', [fifo]);
  const reader = new Socket({ fd: openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK), writable: false });
  let got = 0;
  reader.pause().on('data', (bytes) => {
    got += bytes.length;
  });
  const writer = startProgram(workspace, [makeProgram(workspace, 'write', code), fifo]);
  await eventually('the writer to write', () => writer.stderr() === 'begin\n');
  const closed = new Promise((resolve) => reader.once('close', resolve));
  reader.resume();
  const { code: exit } = await writer.ended;
  await closed;
  assert.equal(exit, 3);
  assert.equal(got, size + 2);
});

test('a reader that has left is no error, and the code stays what it was', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const writer = startProgram(workspace, [makeProgram(workspace, 'write', code)]);
  writer.child.stdout?.destroy();
  const { code: exit, stderr } = await writer.ended;
  assert.equal(exit, 3);
  assert.equal(stderr, 'begin\nend');
});

test('a pipe, a file and /dev/null are no terminals', (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const tell = `import { terminalOf } from './platform/output.ts';
    import { writeFileSync } from 'node:fs';
    writeFileSync(process.argv[2], JSON.stringify(terminalOf(1)));`;
  const program = makeProgram(workspace, 'tell', tell);
  for (const stdout of ['pipe', openSync(workspace.path('file'), 'w'), openSync('/dev/null', 'w')] as const) {
    const told = workspace.path('told');
    execFileSync(process.execPath, [program, told], { env: workspace.env, stdio: ['ignore', stdout, 'inherit'] });
    assert.deepEqual(JSON.parse(workspace.read('told')), { isTerminal: false, columns: 1000, rows: 1000 });
    if (typeof stdout === 'number') closeSync(stdout);
  }
});
