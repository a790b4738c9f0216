// The turn of a queued job on disk: it counts when this user's worker wrote it for this very job, and not otherwise.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Turn } from '../../companion/src/core/job.ts';
import { hasQueue, readTurn, writeTurn } from '../../companion/src/store/turn.ts';
import { useKey } from '../helpers/key.ts';
import { jobId, makeJob, makePlace } from './job-record.ts';

const turn: Turn = { at: '2023-11-14T22:13:20.000Z', boot_id: 'b', mono_ms: 5, files: { success_files: [] } };

function place(t: TestContext) {
  const { workspace, root } = makePlace(t);
  return {
    keyFile: useKey(t, workspace),
    paths: makeJob(root, {}),
    other: makeJob(root, {}, { id: 'run-loyw3v28-000000' }),
  };
}

test('a turn is read as it was written, also with a field of a later release', (t) => {
  const { paths } = place(t);
  assert.equal(readTurn(paths, jobId), undefined);
  const later = { ...turn, more: 1 };
  writeTurn(paths, jobId, later);
  assert.deepEqual(readTurn(paths, jobId), later);
});

test('a turn of another job, a changed one, an unsealed one and a damaged one are none', (t) => {
  const { paths, other } = place(t);
  writeTurn(other, 'run-loyw3v28-000000', turn);
  const sealed = JSON.stringify({ ...turn, mac: 'a'.repeat(64) });
  writeTurn(paths, jobId, turn);
  // Known as genuine before: that is not believed of what stands there now.
  const { mac } = JSON.parse(textOf(paths.turn)) as { mac: string };
  for (const text of [
    textOf(other.turn),
    JSON.stringify({ ...turn, mono_ms: 6, mac }),
    JSON.stringify({ ...turn, files: {}, mac }),
    JSON.stringify({ ...turn, more: 1, mac }),
    JSON.stringify({ ...turn, at: 'then', mac }),
    JSON.stringify({ ...turn, mac: '' }),
    JSON.stringify({ ...turn, mac: 5 }),
    JSON.stringify(turn),
    sealed,
    '{}',
    '[]',
    'x',
    '',
  ]) {
    writeFileSync(paths.turn, text);
    assert.equal(readTurn(paths, jobId), undefined, text);
  }
});

test('a key that cannot be used seals and shows nothing', (t) => {
  const { paths, keyFile } = place(t);
  writeTurn(paths, jobId, { ...turn, mono_ms: 7 });
  chmodSync(keyFile, 0o644);
  const unknown = makeJob(join(paths.root), {}, { id: 'run-loyw3v28-111111' });
  mkdirSync(unknown.folder, { recursive: true });
  writeFileSync(unknown.turn, textOf(paths.turn));
  assert.equal(readTurn(unknown, jobId), undefined);
  assert.throws(() => writeTurn(paths, jobId, turn), /cannot use the key/);
});

test('a timer and a job without --max-live have no queue', () => {
  assert.equal(hasQueue({ kind: 'run', max_live: 1 }), true);
  assert.equal(hasQueue({ kind: 'watch', max_live: 1 }), true);
  assert.equal(hasQueue({ kind: 'timer', max_live: 1 }), false);
  assert.equal(hasQueue({ kind: 'run' }), false);
  assert.equal(hasQueue({ kind: 'run', max_live: null }), false);
});

function textOf(file: string): string {
  return readFileSync(file, 'utf8');
}
