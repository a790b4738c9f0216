// The one line on a terminal while a wait sleeps on the worker's FIFO: it says what is, not what was when it fell asleep.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { waitAndTell } from '../../companion/src/commands/collecting.ts';
import type { Context } from '../../companion/src/commands/command.ts';
import { holdFifo, makeFifo } from '../../companion/src/platform/fifo.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { writeState } from '../../companion/src/store/records.ts';
import { eventually } from '../helpers/eventually.ts';
import { jobId, makeJob, makePlace, makeSpec, makeState } from '../store/job-record.ts';

test('the live line follows the job from starting to running', async (t) => {
  const { root } = makePlace(t);
  const worker = ownIdentity();
  const paths = makeJob(root, {
    spec: makeSpec(),
    state: makeState({ state: 'starting', started_at: null }),
    launch: { worker, generation: 1 },
    worker: { worker, shim: null, child: null, fifo: true, cgroup: null },
  });
  await makeFifo(join(paths.folder, 'lease.fifo'));
  const release = holdFifo(paths.leaseFifo);
  let isHeld = true;
  const letGo = () => {
    if (isHeld) release?.();
    isHeld = false;
  };
  t.after(letGo);
  const lines: string[] = [];
  const context = { isTerminal: false, width: 80, live: (text: string) => lines.push(text), tell: () => undefined };
  const options = { mode: 'all' as const, timeoutMs: 60_000, heartbeatMs: null, isJson: false };
  const waiting = waitAndTell(context as unknown as Context, { folder: root, option: [] }, [jobId], options);
  await eventually('the first line', () => lines.includes(`${jobId}: starting, not started`));
  writeState(paths, makeState());
  await eventually('the line to follow', () => lines.some((line) => line.startsWith(`${jobId}: running, `)), {
    limitMs: 5000,
  });
  writeState(paths, makeState({ state: 'done', exit_code: 0 }));
  letGo();
  assert.equal((await waiting).code, 0);
  assert.equal(lines.at(-1), '');
});
