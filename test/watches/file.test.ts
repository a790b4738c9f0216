/** `watch file`: every condition against real files, with the cursor of one look given to the next. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { file } from '../../companion/src/watches/file.ts';
import type { Cursor, Look } from '../../companion/src/watches/watch.ts';
import { eventually } from '../helpers/eventually.ts';
import { look, lookOnce, makeTools, readWords, type ToolsOptions } from './tools.ts';

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'jct-file-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Looks one after the other, each with the cursor of the one before, as a watch would have it. */
function follow(cwd: string, args: string[], options: ToolsOptions = {}): () => Promise<Look> {
  const { input } = readWords(file, args, cwd);
  let cursor: Cursor | null = file.start(input);
  return async () => {
    const answer = await file.look(
      JSON.parse(JSON.stringify(input)),
      makeTools({ cwd, over: { everyMs: 60_000 }, ...options }),
      cursor,
    );
    if (answer.kind !== 'look') throw new Error(JSON.stringify(answer));
    cursor = JSON.parse(JSON.stringify(answer.cursor));
    return answer;
  };
}

const seen = ({ verdict, word }: Look) => [verdict, word];

test('there and gone, through links, and not a folder', async (t) => {
  const cwd = makeFolder(t);
  const there = follow(cwd, ['link']);
  const gone = follow(cwd, ['link', '--gone']);
  assert.deepEqual(
    [seen(await there()), seen(await gone())],
    [
      ['pending', 'missing'],
      ['met', 'gone'],
    ],
  );
  symlinkSync('target', join(cwd, 'link'));
  assert.deepEqual(
    [seen(await there()), seen(await gone())],
    [
      ['pending', 'missing'],
      ['met', 'gone'],
    ],
  );
  writeFileSync(join(cwd, 'target'), 'abc');
  assert.deepEqual(
    [seen(await there()), seen(await gone())],
    [
      ['met', 'exists'],
      ['pending', 'exists'],
    ],
  );
  unlinkSync(join(cwd, 'target'));
  mkdirSync(join(cwd, 'target'));
  assert.deepEqual(
    [seen(await there()), seen(await gone())],
    [
      ['pending', 'folder'],
      ['pending', 'folder'],
    ],
  );
});

test('a way that leads through a file leads to nothing', async (t) => {
  const cwd = makeFolder(t);
  writeFileSync(join(cwd, 'plain'), '');
  assert.deepEqual(seen(await lookOnce(file, ['plain/below'], { cwd })), ['pending', 'missing']);
});

test('changed: each change is another key, told once; coming and going are changes', async (t) => {
  const cwd = makeFolder(t);
  const next = follow(cwd, ['x', '--changed']);
  const first = await next();
  assert.deepEqual(seen(first), ['pending', 'unchanged']);
  const steps: [() => void, string][] = [
    [() => writeFileSync(join(cwd, 'x'), 'a'), 'appeared'],
    [() => writeFileSync(join(cwd, 'x'), 'bb'), 'changed'],
    [() => utimesSync(join(cwd, 'x'), 1, 1), 'changed'],
    [() => unlinkSync(join(cwd, 'x')), 'gone'],
  ];
  let { key } = first;
  for (const [change, word] of steps) {
    change();
    const met = await next();
    assert.deepEqual(seen(met), ['met', word]);
    assert.notEqual(met.key, key);
    ({ key } = met);
    const after = await next();
    assert.deepEqual([...seen(after), after.key], ['pending', 'unchanged', key]);
  }
});

test('text is found wherever it comes, also over the border of two pieces and of two looks', async (t) => {
  const cwd = makeFolder(t);
  const log = join(cwd, 'log');
  const next = follow(cwd, ['log', '--contains', 'needle']);
  assert.deepEqual(seen(await next()), ['pending', 'missing']);
  writeFileSync(log, `${'x'.repeat(256 * 1024 - 3)}nee`);
  assert.deepEqual(seen(await next()), ['pending', 'not_found']);
  appendFileSync(log, 'dle in the hay\nmore\n');
  const met = await next();
  assert.deepEqual(seen(met), ['met', 'found']);
  assert.match(met.evidence, /needle in the hay/);
  assert.doesNotMatch(met.evidence, /more/);
  assert.equal(met.facts.offset, 256 * 1024 - 3);
  writeFileSync(join(cwd, 'big'), `${'y'.repeat(700_000)}needle`);
  assert.deepEqual(seen(await lookOnce(file, ['big', '--contains', 'needle'], { cwd })), ['met', 'found']);
});

test('what was searched is not searched again; a file that was written anew is', async (t) => {
  const cwd = makeFolder(t);
  const log = join(cwd, 'log');
  writeFileSync(log, 'one\n'.repeat(1_000));
  const next = follow(cwd, ['log', '--contains', 'two']);
  await next();
  // In the part that was searched, behind our back: not seen.
  execFileSync('sh', ['-c', 'printf two | dd of="$1" conv=notrunc bs=1 seek=10 2>/dev/null', 'sh', log]);
  assert.deepEqual(seen(await next()), ['pending', 'not_found']);
  // The same inode, longer than before.
  writeFileSync(log, `two\n${'zzz\n'.repeat(2_000)}`);
  assert.deepEqual(seen(await next()), ['met', 'found']);
});

test('another file in its place is searched from its beginning', async (t) => {
  const cwd = makeFolder(t);
  writeFileSync(join(cwd, 'log'), 'one\n'.repeat(10));
  const next = follow(cwd, ['log', '--contains', 'two']);
  await next();
  writeFileSync(join(cwd, 'new'), `two\n${'one\n'.repeat(9)}`);
  renameSync(join(cwd, 'new'), join(cwd, 'log'));
  assert.deepEqual(seen(await next()), ['met', 'found']);
});

test('a cursor that somebody else wrote is no way past the text', async (t) => {
  const cwd = makeFolder(t);
  writeFileSync(join(cwd, 'log'), 'needle\n');
  for (const cursor of [{ offset: 1e9 }, { offset: -1, inode: 'x' }, { offset: 'y' }, { offset: 7 }, { end: [] }]) {
    const met = await lookOnce(file, ['log', '--contains', 'needle'], { cwd, cursor });
    assert.deepEqual(seen(met), ['met', 'found'], JSON.stringify(cursor));
  }
});

test('a very large file is searched over several looks, each within its time', async (t) => {
  const cwd = makeFolder(t);
  writeFileSync(join(cwd, 'big'), `${'line\n'.repeat(400_000)}needle\n`);
  const next = follow(cwd, ['big', '--contains', 'needle'], { attemptMs: 1 });
  const first = await next();
  assert.deepEqual([...seen(first), first.againMs], ['pending', 'searching', 1_000]);
  for (let round = 0; round < 20; round += 1) {
    if ((await next()).verdict === 'met') return;
  }
  assert.fail('not found in 20 looks');
});

test('a pattern sees lines, also one that has no end yet and then grows', async (t) => {
  const cwd = makeFolder(t);
  const log = join(cwd, 'log');
  const next = follow(cwd, ['log', '--matches', '^epoch 10 .*done$']);
  writeFileSync(log, 'epoch 1 done\nepoch 10 ');
  assert.deepEqual(seen(await next()), ['pending', 'not_found']);
  appendFileSync(log, 'is do');
  assert.deepEqual(seen(await next()), ['pending', 'not_found']);
  appendFileSync(log, 'ne\nepoch 11');
  const met = await next();
  assert.deepEqual(seen(met), ['met', 'found']);
  assert.match(met.evidence, /^found: epoch 10 is done \(/);
});

test('a pattern that takes for ever is trouble, and does not hang', async (t) => {
  const cwd = makeFolder(t);
  writeFileSync(join(cwd, 'log'), `${'a'.repeat(60)}!\n`);
  const answer = await look(file, ['log', '--matches', '^(a+)+$'], { cwd });
  assert.deepEqual([answer.kind, answer.kind === 'trouble' && answer.cause], ['trouble', 'timeout']);
});

test('a device or a pipe is not read', async (t) => {
  const cwd = makeFolder(t);
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  for (const name of ['/dev/zero', 'pipe']) {
    for (const condition of [
      ['--contains', 'x'],
      ['--matches', 'x'],
      ['--sha256', 'a'.repeat(64)],
    ]) {
      const answer = await look(file, [name, ...condition], { cwd });
      assert.deepEqual(
        [answer.kind, answer.kind === 'fault' && answer.cause],
        ['fault', 'refused'],
        `${name} ${condition}`,
      );
    }
  }
});

test('a size is reached', async (t) => {
  const cwd = makeFolder(t);
  const next = follow(cwd, ['x', '--min-size', '2K']);
  writeFileSync(join(cwd, 'x'), 'x'.repeat(2_047));
  assert.deepEqual(seen(await next()), ['pending', 'small']);
  appendFileSync(join(cwd, 'x'), 'x');
  const met = await next();
  assert.deepEqual(seen(met), ['met', 'large']);
  assert.ok(met.kind === 'look' && met.evidence.endsWith('/x has 2.0 KiB, at least 2.0 KiB'));
});

test('stable: from the first look that saw it so, and anew after each change', async (t) => {
  const cwd = makeFolder(t);
  const x = join(cwd, 'x');
  writeFileSync(x, 'a');
  // An old time proves nothing: it may have been set.
  utimesSync(x, 1, 1);
  let nowMs = Date.now();
  const { input } = readWords(file, ['x', '--stable', '30s'], cwd);
  let cursor: Cursor = {};
  const next = async (later: number): Promise<Look> => {
    nowMs += later;
    const answer = (await file.look(input, makeTools({ cwd, nowMs, over: { everyMs: 60_000 } }), cursor)) as Look;
    ({ cursor } = answer);
    return answer;
  };
  const first = await next(0);
  assert.deepEqual([...seen(first), first.againMs], ['pending', 'settling', 30_000]);
  assert.equal((await next(20_000)).againMs, 10_000);
  appendFileSync(x, 'b');
  assert.equal((await next(9_000)).againMs, 30_000);
  assert.deepEqual(seen(await next(29_999)), ['pending', 'settling']);
  assert.deepEqual(seen(await next(1)), ['met', 'stable']);
  // A clock that was set back begins anew.
  assert.equal((await next(-500_000)).againMs, 30_000);
});

test('who looks once takes the time of the file for it', async (t) => {
  const cwd = makeFolder(t);
  writeFileSync(join(cwd, 'x'), 'a');
  assert.equal((await lookOnce(file, ['x', '--stable', '1h'], { cwd })).verdict, 'pending');
  utimesSync(join(cwd, 'x'), 1, 1);
  assert.equal((await lookOnce(file, ['x', '--stable', '1h'], { cwd })).verdict, 'met');
});

test('a digest is that of the content, and not computed again for the same file', async (t) => {
  const cwd = makeFolder(t);
  const content = 'content\n'.repeat(300_000);
  const digest = createHash('sha256').update(content).digest('hex');
  writeFileSync(join(cwd, 'x'), 'other');
  const next = follow(cwd, ['x', '--sha256', digest.toUpperCase()]);
  assert.deepEqual(seen(await next()), ['pending', 'other']);
  writeFileSync(join(cwd, 'x'), content);
  const met = await next();
  assert.deepEqual([...seen(met), met.facts.sha256], ['met', 'same', digest]);
});

test('a path that nobody can look at is refused at the launch', (t) => {
  const cwd = makeFolder(t);
  // Also for root, who may enter every folder.
  symlinkSync('circle', join(cwd, 'circle'));
  assert.throws(() => readWords(file, ['circle/x'], cwd), /it cannot be looked at \(ELOOP\)/);
});

test('a change is told at once where the system can tell', async (t) => {
  const cwd = makeFolder(t);
  for (const name of ['comes', 'linked']) {
    if (name === 'linked') symlinkSync('elsewhere/target', join(cwd, name));
    mkdirSync(join(cwd, 'elsewhere'), { recursive: true });
    if (name === 'linked') writeFileSync(join(cwd, 'elsewhere/target'), '');
    let woken = 0;
    const { input } = readWords(file, [name], cwd);
    const stop = file.early(input, () => {
      woken += 1;
    });
    try {
      writeFileSync(join(cwd, 'beside'), '');
      if (name === 'linked') appendFileSync(join(cwd, 'elsewhere/target'), 'x');
      else writeFileSync(join(cwd, name), 'x');
      await eventually('a wake-up', () => woken > 0);
    } finally {
      stop();
    }
  }
});
