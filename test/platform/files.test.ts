// Files that others may read at any moment: modes, links, FIFOs, one winner among many creators, no torn read.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  appendText,
  closeFile,
  createFile,
  createFolder,
  openAppend,
  overwrite,
  readJson,
  readRange,
  readText,
  removeFile,
  writeFile,
  writeJson,
} from '../../companion/src/platform/files.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { makeProgram, startProgram } from './child-program.ts';

const modeOf = (path: string) => statSync(path).mode & 0o7777;

function makeFolder(t: TestContext): string {
  return makeWorkspace(t, { git: false }).dir;
}

for (const mask of [0, 0o022, 0o777]) {
  test(`under umask ${mask.toString(8)} files are 0600 and folders 0700`, (t) => {
    const folder = makeFolder(t);
    const at = (name: string) => join(folder, name);
    const before = process.umask(mask);
    try {
      assert.equal(createFolder(at('inner')), true);
      writeFile(at('inner/written'), 'x');
      writeJson(at('json'), {});
      createFile(at('created'), 'x');
      appendText(at('appended'), 'x\n');
      closeFile(openAppend(at('opened')));
    } finally {
      process.umask(before);
    }
    assert.equal(modeOf(at('inner')), 0o700);
    for (const name of ['inner/written', 'json', 'created', 'appended', 'opened'])
      assert.equal(modeOf(at(name)), 0o600, name);
  });
}

test('a replaced file is 0600 whatever the old one was, and other names of the old one keep its content', (t) => {
  const folder = makeFolder(t);
  const file = join(folder, 'state.json');
  writeFileSync(file, 'old', { mode: 0o644 });
  linkSync(file, join(folder, 'other'));
  writeFile(file, new Uint8Array([110, 101, 119]));
  assert.equal(readFileSync(file, 'utf8'), 'new');
  assert.equal(modeOf(file), 0o600);
  assert.equal(readFileSync(join(folder, 'other'), 'utf8'), 'old');
});

test('writing and creating leave nothing but the file', (t) => {
  const folder = makeFolder(t);
  writeFile(join(folder, 'a'), 'x');
  writeFile(join(folder, 'a'), 'y', { sync: false });
  createFile(join(folder, 'b'), 'x');
  createFile(join(folder, 'b'), 'y');
  mkdirSync(join(folder, 'taken', 'full'), { recursive: true });
  assert.throws(() => createFile(join(folder, 'nowhere', 'c'), 'x'));
  assert.deepEqual(readdirSync(folder).sort(), ['a', 'b', 'taken']);
});

test('a folder in the place of a file is moved aside whole', (t) => {
  const folder = makeFolder(t);
  mkdirSync(join(folder, 'taken', 'full'), { recursive: true });
  writeFile(join(folder, 'taken'), 'x');
  assert.equal(readFileSync(join(folder, 'taken'), 'utf8'), 'x');
  const [aside = ''] = readdirSync(folder).filter((name) => name.startsWith('taken.odd-'));
  assert.deepEqual(readdirSync(join(folder, aside)), ['full']);
});

test('a left-over temporary file of a dead process with our pid is no obstacle', (t) => {
  const folder = makeFolder(t);
  const file = join(folder, 'state.json');
  // What our own next writes would use, whatever their serial number is.
  for (let serial = 0; serial < 200; serial += 1)
    writeFileSync(join(folder, `.state.json.${process.pid}.${serial}.tmp`), 'old');
  writeFile(file, 'new');
  assert.equal(readFileSync(file, 'utf8'), 'new');
});

test('createFolder makes a folder once and never changes one that is there', (t) => {
  const folder = join(makeFolder(t), 'inner');
  assert.equal(createFolder(folder), true);
  execFileSync('chmod', ['755', folder]);
  assert.equal(createFolder(folder), false);
  assert.equal(modeOf(folder), 0o755);
  assert.throws(() => createFolder(join(folder, 'no', 'parent')), { code: 'ENOENT' });
});

test('createFile leaves what is there, be it a file, a folder or a link to nowhere', (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'file'), 'first');
  mkdirSync(join(folder, 'folder'));
  symlinkSync('/nowhere/at-all', join(folder, 'link'));
  for (const name of ['file', 'folder', 'link']) assert.equal(createFile(join(folder, name), 'second'), false, name);
  assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'first');
  assert.ok(lstatSync(join(folder, 'link')).isSymbolicLink());
});

test('of many processes that create the same files at once, each file has one winner, whole', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const program = makeProgram(
    workspace,
    'create',
    `import { createFile } from './platform/files.ts';
     import { readFileSync } from 'node:fs';
     readFileSync(0);
     const [folder, id] = process.argv.slice(2);
     for (let n = 0; n < 40; n += 1)
       if (createFile(folder + '/f' + n, JSON.stringify({ id, pad: 'x'.repeat(2000) }))) console.log('f' + n);`,
  );
  const creators = Array.from({ length: 8 }, (_, id) => startProgram(workspace, [program, workspace.dir, String(id)]));
  for (const creator of creators) creator.begin();
  const ends = await Promise.all(creators.map(({ ended }) => ended));
  const winners = new Map<string, string[]>();
  ends.forEach(({ code, stdout, stderr }, id) => {
    assert.equal(code, 0, stderr);
    for (const name of stdout.split('\n').filter(Boolean))
      winners.set(name, [...(winners.get(name) ?? []), String(id)]);
  });
  assert.equal(winners.size, 40);
  for (const [name, ids] of winners) assert.deepEqual(ids, [JSON.parse(workspace.read(name)).id], name);
  assert.equal(readdirSync(workspace.dir).length, 40);
});

test('2,000 replaced writes while a reader reads: every read is one whole value, and none goes back', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('state.json');
  const program = makeProgram(
    workspace,
    'replace',
    `import { writeJson } from './platform/files.ts';
     for (let rev = 1; rev <= 2000; rev += 1)
       writeJson(process.argv[2], { rev, pad: 'x'.repeat(rev % 7 * 3000) }, { sync: false });`,
  );
  writeJson(file, { rev: 0 });
  let isOver = false;
  const writer = startProgram(workspace, [program, file]);
  void writer.ended.then(() => {
    isOver = true;
  });
  let newest = 0;
  let reads = 0;
  const read = () => {
    const seen = readJson(file);
    assert.ok(seen.kind === 'ok', JSON.stringify(seen).slice(0, 200));
    const rev = Number(seen.value.rev);
    assert.ok(rev >= newest, `${rev} after ${newest}`);
    newest = rev;
    reads += 1;
  };
  while (!isOver) {
    for (let n = 0; n < 10; n += 1) read();
    // The writer gets its turn, also where both share one CPU.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  read();
  assert.deepEqual(await writer.ended, { code: 0, stdout: '', stderr: '' });
  assert.equal(newest, 2000);
  t.diagnostic(`${reads} reads`);
});

test('appending from several processes keeps every line whole', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('events');
  const program = makeProgram(
    workspace,
    'append',
    `import { appendText } from './platform/files.ts';
     import { readFileSync } from 'node:fs';
     readFileSync(0);
     const [file, id] = process.argv.slice(2);
     for (let n = 0; n < 100; n += 1) appendText(file, id + ':' + n + ':' + id.repeat(3000) + '\\n');`,
  );
  const writers = ['a', 'b', 'c'].map((id) => startProgram(workspace, [program, file, id]));
  for (const writer of writers) writer.begin();
  for (const { ended } of writers) assert.equal((await ended).code, 0);
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const expected = ['a', 'b', 'c'].flatMap((id) =>
    Array.from({ length: 100 }, (_, n) => `${id}:${n}:${id.repeat(3000)}`),
  );
  assert.deepEqual(lines.sort(), expected.sort());
});

test('an append that the system cuts short does not spoil the next line', (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('events');
  const program = makeProgram(
    workspace,
    'short',
    `import { appendText } from './platform/files.ts';
     try { appendText(process.argv[2], 'x'.repeat(1500) + '\\n'); console.log('said nothing'); }
     catch (error) { console.log('threw'); }`,
  );
  // Blocks of 512 or 1024 bytes: the first line does not fit into one.
  const script = 'ulimit -f 1; exec "$@"';
  const args = ['-c', script, 'sh', process.execPath, program, file];
  const { stdout } = spawnSync('sh', args, { env: workspace.env, encoding: 'utf8' });
  appendText(file, 'second\n');
  const lines = readFileSync(file, 'utf8').split('\n');
  assert.ok(stdout === 'threw\n' || lines.includes('second'), `${stdout}${lines.at(-2)?.slice(-20)}`);
});

test('readJson tells a value, nothing there, and damage apart', (t) => {
  const folder = makeFolder(t);
  const read = (content: string | Uint8Array) => {
    writeFileSync(join(folder, 'x.json'), content);
    return readJson(join(folder, 'x.json'));
  };
  assert.deepEqual(read('{"a":{"b":[1]}}\n'), { kind: 'ok', value: { a: { b: [1] } } });
  assert.deepEqual(read('{}'), { kind: 'ok', value: {} });
  for (const content of ['', '[]', 'null', '1', '"x"', '{"a":', '{"a":1}{"b":2}', '{"a":1}\0', Buffer.alloc(4096)]) {
    assert.deepEqual(read(content), { kind: 'damaged', reason: 'x.json is no JSON object' });
  }
  assert.deepEqual(readJson(join(folder, 'none.json')), { kind: 'missing' });
  assert.deepEqual(readJson(join(folder, 'x.json', 'below-a-file.json')), { kind: 'missing' });
});

test('a file that may not be read is damaged, not missing', (t) => {
  const folder = makeFolder(t);
  const file = join(folder, 'x.json');
  writeFileSync(file, '{}');
  // Root may read everything; a name that is too long fails for everybody.
  assert.deepEqual(readJson(join(folder, `${'x'.repeat(300)}`)), {
    kind: 'damaged',
    reason: `${'x'.repeat(300)} cannot be read (ENAMETOOLONG)`,
  });
  if (process.getuid?.() === 0) return;
  execFileSync('chmod', ['000', file]);
  assert.deepEqual(readJson(file), { kind: 'damaged', reason: 'x.json cannot be read (EACCES)' });
});

test('nothing is read or written through a link', (t) => {
  const folder = makeFolder(t);
  const [target, link] = [join(folder, 'target'), join(folder, 'link')];
  writeFileSync(target, '{"secret":1}');
  symlinkSync(target, link);
  assert.deepEqual(readJson(link), { kind: 'missing' });
  assert.equal(readText(link), undefined);
  assert.equal(readRange(link, 0, 10), undefined);
  assert.throws(() => appendText(link, 'x\n'), { code: 'ELOOP' });
  assert.throws(() => openAppend(link), { code: 'ELOOP' });
  assert.throws(() => overwrite(link, 0, 'x'), { code: 'ELOOP' });
  writeFile(link, 'mine');
  assert.equal(readFileSync(target, 'utf8'), '{"secret":1}');
  assert.ok(lstatSync(link).isFile());
});

test('a FIFO, a folder or a device in place of a file is read as nothing and nobody waits for it', (t) => {
  const folder = makeFolder(t);
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  for (const path of [fifo, folder, '/dev/zero']) {
    assert.deepEqual(readJson(path), { kind: 'missing' });
    assert.equal(readRange(path, 0, 100), undefined);
  }
  assert.throws(() => appendText(fifo, 'x\n'), { code: 'ENXIO' });
  assert.throws(() => openAppend(fifo), { code: 'ENXIO' });
});

test('overwriting a FIFO does not wait for its reader', {}, (t) => {
  const fifo = join(makeFolder(t), 'fifo');
  execFileSync('mkfifo', [fifo]);
  assert.throws(() => overwrite(fifo, 0, 'x'), { code: 'ENXIO' });
});

test('readRange gives the bytes from an offset, or from the end, and the size', (t) => {
  const file = join(makeFolder(t), 'x');
  writeFileSync(file, '0123456789');
  const read = (offset: number, length: number) => readRange(file, offset, length)?.bytes.toString();
  assert.equal(read(0, 100), '0123456789');
  assert.equal(read(3, 4), '3456');
  assert.equal(read(8, 4), '89');
  assert.equal(read(10, 4), '');
  assert.equal(read(1000, 4), '');
  assert.equal(read(-3, 3), '789');
  assert.equal(read(-3, 100), '789');
  assert.equal(read(-100, 4), '0123');
  assert.equal(readRange(file, 5, 0)?.size, 10);
  assert.equal(readText(file, 4), '0123');
});

test('overwrite changes bytes in place and nothing else', (t) => {
  const file = join(makeFolder(t), 'x');
  writeFileSync(file, '0123456789');
  overwrite(file, 3, 'abc');
  assert.equal(readFileSync(file, 'utf8'), '012abc6789');
  assert.throws(() => overwrite(`${file}.none`, 0, 'x'), { code: 'ENOENT' });
});

test('removeFile says whether it was there, and removes a link, never its target', (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'target'), 'x');
  symlinkSync(join(folder, 'target'), join(folder, 'link'));
  assert.equal(removeFile(join(folder, 'link')), true);
  assert.equal(removeFile(join(folder, 'link')), false);
  assert.equal(removeFile(join(folder, 'target', 'below')), false);
  assert.equal(readFileSync(join(folder, 'target'), 'utf8'), 'x');
});
