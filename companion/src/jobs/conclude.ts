// The end of a job, published in one order: payload, event, state, then the active marker goes. The worker calls this, and so does
// a reader that settles a job nobody supervises any more (under the job's lock). An outcome is published once; whoever comes
// later leaves a `late_evidence` event.

import { errnoOf, messageOf } from '../core/errors.ts';
import type { JobState, Spec } from '../core/job.ts';
import { removeFile, writeFile, writeJson } from '../platform/files.ts';
import { listNames } from '../platform/folders.ts';
import { identityOf } from '../platform/identity.ts';
import { openJournal, readEvents } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';
import { readCancel, readState, readStoredState, writeState } from '../store/records.ts';
import { earlyState } from './early-state.ts';
import { type EndState, type JobEnding, makeEndState } from './end-state.ts';
import { backendOf } from './replay.ts';
import { makeDeliverable } from './report.ts';
import type { StaffEnd } from './staff-end.ts';
import { isTidy, terminalRecord } from './terminal-record.ts';
import { isEnded } from './view.ts';

export function conclude(job: { paths: JobPaths; spec: Spec }, ending: JobEnding): JobState {
  const { paths, spec } = job;
  const read = readState(paths);
  const before = read.kind === 'ok' ? read.value : earlyState(spec.id, spec);
  const journal = openJournal(paths, spec);
  if (isEnded(before)) {
    journal.append('late_evidence', { reason: ending.reason, exit_code: ending.exit?.exit_code ?? null });
    return before;
  }
  const end = makeEndState(job, before, ending);
  const { state } = end;
  try {
    withReserve(paths, () => publish(job, end, ending, journal));
  } catch (error) {
    if (!isFull(error)) throw error;
    // The payload does not fit: the outcome and the exit code still have to be told.
    state.state = 'failed';
    state.error = {
      code: 'output_unstorable',
      message: `the result cannot be stored: no space left in ${paths.folder}`,
    };
    state.seq = journal.seq;
    withReserve(paths, () => finish(paths, state));
  }
  return state;
}

function publish(
  job: { paths: JobPaths; spec: Spec },
  { state, staff, results }: EndState,
  ending: JobEnding,
  journal: ReturnType<typeof openJournal>,
): void {
  const { paths, spec } = job;
  const cancel = readCancel(paths);
  writeFile(
    paths.result,
    madeSafely(state, staff, () =>
      makeDeliverable({
        spec,
        paths,
        state,
        staff,
        results,
        ownLog: ending.ownLog ?? null,
        ownText: ending.own?.text ?? null,
        tree: ending.tree,
        cancel,
        isPlain: backendOf(spec)?.answerFrom === 'stdout',
      }),
    ),
  );
  // A worker that died between this event and the state has told the end already.
  const isTold = readEvents(paths, journal.seq - 1, 1).events[0]?.type === 'ended';
  const record = (): void => {
    // Not forced to the disk: everything in it stands in the state too, and a waiter waits for this.
    const made = terminalRecord(spec, paths, state, { tree: ending.tree, staff, results });
    writeJson(paths.resultRecord, made, { sync: false });
  };
  // The record lies there before the event that it counts.
  state.seq = isTold ? journal.seq : journal.seq + 1;
  record();
  if (!isTold) {
    const { exit_code, error, reconciled } = state;
    journal.append('ended', { state: state.state, exit_code, error, reconciled });
  }
  if (state.seq !== journal.seq) {
    // Somebody else appended in that moment.
    state.seq = journal.seq;
    record();
  }
  finish(paths, state);
  if (isTidy(spec, state)) for (const file of [paths.output, paths.snapshot]) removeFile(file);
}

/** A report that cannot be made must not keep the end from being published. */
function madeSafely(
  state: JobState,
  staff: StaffEnd | undefined,
  make: () => string | Uint8Array,
): string | Uint8Array {
  try {
    return make();
  } catch (error) {
    if (state.state === 'done' && staff && staff.answer !== null) return staff.answer;
    const reason = state.error ? `${state.error.code}: ${state.error.message}` : state.state;
    return `# ${state.id}: ${state.state}\n\n${reason}\n\nThe report could not be made: ${messageOf(error)}\n`;
  }
}

function finish(paths: JobPaths, state: JobState): void {
  writeState(paths, state);
  removeFile(paths.marker);
  // What only a running job needs; a FIFO that stays makes copies of the worktree stumble.
  const passing = [paths.reserve, paths.leaseFifo, paths.aliveFifo, paths.limitFifo];
  const torn = listNames(paths.folder).filter(isTorn);
  for (const file of [...passing, ...torn.map((name) => `${paths.folder}/${name}`)]) removeFile(file);
}

/** What a dead writer left. A living one is in the middle of it: a launcher that is slower than its whole job still needs its own. */
function isTorn(fileName: string): boolean {
  const writer = /^\..*\.(\d+)\.\d+\.tmp$/.exec(fileName)?.[1];
  return writer !== undefined && (Number(writer) === process.pid || identityOf(Number(writer)) === undefined);
}

/** The end that a worker had stored before it could publish it: the payload is whole, only the state is missing. */
export function finishStored(job: { paths: JobPaths; spec: Spec }): boolean {
  const stored = readStoredState(job.paths, job.spec.id);
  if (!stored) return false;
  withReserve(job.paths, () => finish(job.paths, stored));
  return true;
}

/** A full disk: the space that was set aside for this moment is given back, once. */
function withReserve(paths: JobPaths, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isFull(error) || !removeFile(paths.reserve)) throw error;
    write();
  }
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}
