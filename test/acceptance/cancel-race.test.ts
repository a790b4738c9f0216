/**
 * 200 races of `cancel` against a normal end: each job has one outcome that never changes, `cancel` gives 0 exactly when
 * it is `canceled`, and nothing is left over.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Hold, type Job, launch, makeHold, untilHeld } from '../helpers/jobs.ts';
import { MARKER } from '../helpers/leaks.ts';
import { listProcesses } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const RACES = 200;
const AT_A_TIME = 3;

interface Raced {
  job: Job;
  record: string;
}

test(`${RACES} races of cancel against a normal end have one outcome each, and it never changes`, async (t) => {
  const workspace = makeWorkspace(t);
  const finished: Raced[] = [];
  let next = 0;
  const runLane = async () => {
    while (next < RACES) {
      next += 1;
      finished.push(await race(workspace, next % 4 === 0));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, runLane));

  await eventually('no process to be left', () => isQuiet(workspace));
  const count = { canceled: 0, done: 0 };
  for (const { job, record } of finished) {
    assert.equal(job.text('state.json'), record, 'the outcome has changed');
    assert.equal(job.events('ended').length, 1);
    count[job.state().state as 'canceled' | 'done'] += 1;
  }
  t.diagnostic(`canceled ${count.canceled}, done ${count.done}`);
  assert.equal(count.canceled + count.done, RACES);
});

/** The end comes at a random moment around the request: after cancel.json, in every fourth race, else at any time. */
async function race(workspace: Workspace, afterRequest: boolean): Promise<Raced> {
  const hold: Hold = makeHold(workspace);
  const job = await launch(workspace, ['--', ...hold.command]);
  await untilHeld(hold);
  const canceling = start(workspace, ['cancel', job.id]);
  const releaseAt = performance.now() + Math.random() * 150;
  const isTime = () => (afterRequest ? job.has('cancel.json') : performance.now() >= releaseAt);
  await eventually('the moment to end', isTime, { everyMs: 1, limitMs: 20_000 });
  hold.release();
  const { code, stderr } = await canceling.promise;
  const { state, exit_code } = job.state();
  assert.ok(state === 'canceled' || state === 'done', `${job.id}: ${state}\n${stderr}`);
  assert.equal(code, state === 'canceled' ? 0 : 1, `${job.id}: ${state}\n${stderr}`);
  if (state === 'done') assert.equal(exit_code, 0);
  return { job, record: job.text('state.json') };
}

function isQuiet({ marker }: Workspace): boolean {
  return listProcesses({ environment: `${MARKER}=${marker}` }).length === 0;
}
