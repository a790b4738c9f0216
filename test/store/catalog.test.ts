// Which jobs are there, and which one a whole or shortened id means.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { findJob, listActive, listJobs, requireWholeId } from '../../companion/src/store/catalog.ts';
import type { StateRoot } from '../../companion/src/store/layout.ts';
import { makePlace } from './job-record.ts';

// The last one is of the day in 2059 when times get a ninth digit.
const ids = [
  'run-loyw3v28-09az03',
  'ask-loyw3v29-000000',
  'run-loyw3v2a-09az03',
  'staffer-loyw4000-zzzzzz',
  'run-100000000-09az03',
];
const strays = ['.new-run-loyw3v28-09az04', '.gone-run-loyw3v28-09az05', 'notes.txt', 'run-x', 'RUN-loyw3v28-09az03'];

function makeCatalog(t: TestContext): StateRoot {
  const { root } = makePlace(t);
  for (const name of [...ids, ...strays]) mkdirSync(join(root, 'jobs', name));
  for (const name of [ids[2]!, ids[0]!, 'stray']) writeFileSync(join(root, 'active', name), '');
  return { folder: root, option: ['--state-dir', root] };
}

function refusal(fn: () => unknown): FaultError {
  try {
    fn();
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

test('all jobs are listed with the newest first, live ones with the oldest first, and nothing else is', (t) => {
  const { folder } = makeCatalog(t);
  assert.deepEqual(listJobs(folder), [...ids].reverse());
  assert.deepEqual(listActive(folder), [ids[0], ids[2]]);
  assert.deepEqual([listJobs('/none'), listActive('/none')], [[], []]);
});

test('a whole id is found, and so is every beginning that only one job has', (t) => {
  const root = makeCatalog(t);
  for (const id of ids) assert.equal(findJob(root, id), id);
  for (const text of ['ask', 'staffer-', 'as', 'run-1', 'run-loyw3v2a', 'run-loyw3v28-0']) {
    const id = findJob(root, text);
    assert.ok(ids.includes(id) && id.startsWith(text), `${text} is ${id}`);
  }
});

test('a beginning that several jobs have is refused with the newest of them', (t) => {
  const root = makeCatalog(t);
  const { code, message, next } = refusal(() => findJob(root, 'run-'));
  assert.equal(code, 'ambiguous_id');
  assert.equal(
    message,
    `cannot tell which job run- is: 3 jobs begin so, the newest are ${ids[0]}, ${ids[2]}, ${ids[4]}`,
  );
  assert.equal(next, 'give more of the id');
});

test('an id that no job has is refused with the folder that was searched', (t) => {
  const root = makeCatalog(t);
  for (const text of ['run-loyw3v28-09az04', 'review', 'run-loyw3v28-09az03'.replace('3v', '4v')]) {
    const { code, message, next } = refusal(() => findJob(root, text));
    assert.equal(code, 'unknown_job');
    assert.equal(message, `cannot find job ${text}: there is no such job in the state folder ${root.folder}`);
    assert.match(next ?? '', / status --state-dir .*, or name another folder with --state-dir DIR$/);
  }
});

test('what could be no id is refused before anything is looked at', (t) => {
  const root = makeCatalog(t);
  for (const text of [
    '',
    '.',
    '..',
    '../jobs',
    '/etc',
    'run/',
    'run-loyw3v28-09az03/..',
    '.new-run-loyw3v28-09az04',
    'notes.txt',
    '*',
    'r',
    'run-\u202e',
  ]) {
    const { code, message } = refusal(() => findJob(root, text));
    assert.equal(code, 'unknown_job');
    assert.equal(message, `cannot take ${JSON.stringify(text)} as a job id: ids look like run-mik3x9ab-4f7q2z`);
  }
});

test('a command that changes something takes a whole id and names it when it got a short one', (t) => {
  const root = makeCatalog(t);
  assert.equal(requireWholeId(root, ids[1]!), ids[1]);
  const { code, message, next } = refusal(() => requireWholeId(root, 'ask'));
  assert.equal(code, 'ambiguous_id');
  assert.equal(message, 'cannot take the short id ask: this command needs the whole id');
  assert.equal(next, `the one job that begins so is ${ids[1]}`);
  assert.equal(refusal(() => requireWholeId(root, 'run')).code, 'ambiguous_id');
  assert.equal(refusal(() => requireWholeId(root, 'review')).code, 'unknown_job');
});
