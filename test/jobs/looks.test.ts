// Where the looks of an owner stood: sealed, a few of them kept, and a wall clock that was set back is seen by the other clock.
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { noteLook, readLooks, setBackMs } from '../../companion/src/jobs/looks.ts';
import { ensureKey, hashOf } from '../../companion/src/store/mac.ts';
import { makePlace } from '../store/job-record.ts';

function makeLooks(t: TestContext): { root: string; base: string } {
  const { workspace, root } = makePlace(t);
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = workspace.env.XDG_CONFIG_HOME;
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  });
  ensureKey();
  return { root, base: workspace.base };
}

const key = 'run-loyw3v28-09az03:7';

test('what was noted is read again, by that owner alone; everybody is an owner of its own', async (t) => {
  const { root } = makeLooks(t);
  assert.deepEqual(await readLooks(root, 'ann'), []);
  assert.equal(await noteLook(root, 'ann', { seq: 5, told: [key] }), true);
  assert.equal(await noteLook(root, null, { seq: 6, told: [] }), true);
  assert.deepEqual(
    (await readLooks(root, 'ann')).map(({ seq, told }) => [seq, told]),
    [[5, [key]]],
  );
  assert.deepEqual(
    (await readLooks(root, null)).map(({ seq }) => seq),
    [6],
  );
  assert.deepEqual(await readLooks(root, 'null'), []);
});

test('the last eight numbers are kept, the newest last, each once', async (t) => {
  const { root } = makeLooks(t);
  for (const seq of [1, 2, 3, 4, 5, 6, 7, 8, 9, 4]) await noteLook(root, 'ann', { seq, told: [] });
  assert.deepEqual(
    (await readLooks(root, 'ann')).map(({ seq }) => seq),
    [2, 3, 5, 6, 7, 8, 9, 4],
  );
});

test('another number in the file, the file of another owner, and one without a seal are none', async (t) => {
  const { root } = makeLooks(t);
  await noteLook(root, 'ann', { seq: 5, told: [] });
  await noteLook(root, 'bob', { seq: 6, told: [] });
  const [ann, bob] = ['ann', 'bob'].map((owner) => fileOf(root, owner)) as [string, string];
  const text = readFileSync(ann, 'utf8');
  writeFileSync(ann, text.replace('"seq":5', '"seq":9'));
  assert.deepEqual(await readLooks(root, 'ann'), []);
  writeFileSync(bob, text);
  assert.deepEqual(await readLooks(root, 'bob'), []);
  writeFileSync(ann, JSON.stringify({ ...JSON.parse(text), mac: undefined }));
  assert.deepEqual(await readLooks(root, 'ann'), []);
  writeFileSync(ann, text);
  assert.equal((await readLooks(root, 'ann')).length, 1);
});

test('through a link nothing is written', async (t) => {
  const { root, base } = makeLooks(t);
  symlinkSync(base, join(root, 'looks'));
  assert.equal(await noteLook(root, 'ann', { seq: 5, told: [] }), false);
});

test('a wall clock that was set back is seen, one that was set on or slept is not, and another boot says nothing', async (t) => {
  const { root } = makeLooks(t);
  await noteLook(root, 'ann', { seq: 5, told: [] });
  const [look] = await readLooks(root, 'ann');
  assert.ok(look);
  assert.equal(setBackMs(look), 0);
  const back = setBackMs({ ...look, at_ms: look.at_ms + 3_600_000 });
  assert.ok(back > 3_590_000 && back <= 3_600_001, String(back));
  assert.equal(setBackMs({ ...look, at_ms: look.at_ms - 3_600_000 }), 0);
  assert.equal(setBackMs({ ...look, at_ms: look.at_ms + 3_600_000, boot_id: 'another' }), 0);
});

function fileOf(root: string, owner: string): string {
  return join(root, 'looks', `${hashOf(JSON.stringify(owner)).slice(0, 40)}.json`);
}
