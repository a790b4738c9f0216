/**
 * A launcher that is slower than its whole job: the worker has ended it and tidied up before the launcher has written down who the
 * worker is. Nothing of the job may be lost for that, and its id is told (found by 200 launches at once on a busy machine).
 */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

/** Loaded into the launcher: its `launch.json` is put in place only after the job has ended; `before` is done to the file meanwhile. */
function slowly(before: string): string {
  return `const fs = require('node:fs'), path = require('node:path'), move = fs.renameSync;
    fs.renameSync = (from, to) => {
      if (path.basename(to) === 'launch.json') {
        fs.renameSync = move;
        const state = path.join(path.dirname(to), 'state.json');
        const isEnded = () => { try { return /"state":"(done|failed)"/.test(fs.readFileSync(state, 'utf8')); } catch { return false; } };
        const marker = to.replace('/jobs/', '/active/').replace('/launch.json', '');
        while (!isEnded() || fs.existsSync(marker)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        ${before}
      }
      return move(from, to);
    };`;
}

for (const [name, before] of [
  ['its worker is gone already', ''],
  // What a worker of another pid namespace does, where the launcher cannot be seen.
  ['its half-written file was tidied away', 'fs.unlinkSync(from);'],
] as const) {
  test(`a launcher that is slower than its job tells the id, and the result is there: ${name}`, async (t) => {
    const workspace = makeWorkspace(t);
    const hold = workspace.path('slow.cjs');
    writeFileSync(hold, slowly(before));
    const launched = await run(workspace, ['run', '--id-only', '--', 'sh', '-c', 'echo once >>runs; echo result'], {
      nodeOptions: ['--require', hold],
    });
    assert.equal(launched.code, 0, launched.stderr);
    const id = launched.stdout.trim();
    const result = await run(workspace, ['result', id]);
    assert.equal(result.code, 0, result.stderr);
    assert.equal(result.stdout, 'result\n');
    const folder = workspace.path(`.job-state/jobs/${id}`);
    assert.deepEqual(
      readdirSync(folder).filter((file) => file.endsWith('.tmp')),
      [],
    );
    const { jobs } = parseReply<{ jobs: { id: string; state: string }[] }>(await run(workspace, ['status', '--json']));
    assert.deepEqual(
      jobs.map((job) => [job.id, job.state]),
      [[id, 'done']],
    );
  });
}
