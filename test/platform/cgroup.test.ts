// A job's own cgroup: what is listed or removed is only ever that of this very job.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { listCgroup, makeCgroup, removeCgroup } from '../../companion/src/platform/cgroup.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const id = 'run-loyw3v28-09az03';

test('a folder that is no cgroup of this job has no members and is not removed', (t) => {
  const { write, path } = makeWorkspace(t, { git: false });
  for (const folder of [`job-companion-${id}`, 'job-companion-run-other', 'other']) {
    write(`${folder}/cgroup.procs`, `${process.pid}\n`);
    assert.deepEqual(listCgroup(path(folder), id), []);
    removeCgroup(path(folder), id);
    assert.ok(existsSync(path(folder, 'cgroup.procs')));
  }
});

test('no path leads to the members of another cgroup', () => {
  for (const folder of [
    null,
    '',
    '/',
    '/sys/fs/cgroup',
    `/sys/fs/cgroup/../../../proc/job-companion-${id}`,
    `job-companion-${id}`,
  ]) {
    assert.deepEqual(listCgroup(folder, id), []);
  }
});

test('where a cgroup can be made it is empty, and gone again when it is removed', () => {
  const folder = makeCgroup(id);
  assert.deepEqual(listCgroup(folder, id), []);
  removeCgroup(folder, id);
  assert.equal(folder !== null && existsSync(folder), false);
});
