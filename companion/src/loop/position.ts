// Where the unattended loop is: cursor.json of its job, written before the step that it names is done. It lies where an agent may write, so
// what has another form than ours counts as nothing, and then the loop orients itself anew: from the state, from git, and from once-keys.
import { isId } from '../core/ids.ts';
import type { LoopNote } from '../core/loop.ts';
import { readJson, writeJson } from '../platform/files.ts';
import type { JobPaths } from '../store/layout.ts';

export interface Position {
  step: LoopNote['step'];
  /** Checkpoints there were when the iteration began. */
  iteration: number;
  milestone: string | null;
  /** Rounds of mending that were begun in this iteration. */
  round: number;
  /** The staff job of this step; null before it was launched. */
  job: string | null;
  /** The one before it. */
  parent: string | null;
  /** Every staff job of this iteration. */
  jobs: string[];
  /** What the staff job is told. */
  prompt: string | null;
  /** Who answers the questions of the gate, and the digest of what was asked. */
  judge: string | null;
  digest: string | null;
  gate: string | null;
  /** The checkpoint of this iteration was made; what comes now is mended after it. */
  isCommitted: boolean;
  /** What passed before the checkpoint, for the journal. */
  verified: string[];
  detail: string;
  /** Iterations that this job finished. */
  done: number;
  /** When the iteration began, by the clock on the wall. */
  startedMs: number;
}

export const firstPosition: Position = {
  step: 'orient',
  iteration: 0,
  milestone: null,
  round: 0,
  job: null,
  parent: null,
  jobs: [],
  prompt: null,
  judge: null,
  digest: null,
  gate: null,
  isCommitted: false,
  verified: [],
  detail: '',
  done: 0,
  startedMs: 0,
};

export function writePosition(paths: JobPaths, position: Position): void {
  writeJson(paths.cursor, { schema: 1, ...position });
}

export function readPosition(paths: JobPaths): Position {
  const read = readJson(paths.cursor);
  return (read.kind === 'ok' ? positionOf(read.value) : undefined) ?? firstPosition;
}

export function noteOf({ iteration, milestone, step, round, job, judge, gate }: Position): LoopNote {
  return { iteration, milestone, step, round, job: step === 'gate' ? (gate ?? judge) : job };
}

const steps: readonly string[] = ['orient', 'execute', 'verify', 'checkpoint', 'gate', 'remediate', 'pace', 'stop'];

/** Undefined when anything of it is not as we write it. */
export function positionOf(value: Record<string, unknown>): Position | undefined {
  const { step, milestone, prompt, jobs, verified, detail, isCommitted, job, parent, judge, digest, gate } = value;
  const isText = (one: unknown): one is string => typeof one === 'string';
  const isIdOrNull = (one: unknown): one is string | null => one === null || (isText(one) && isId(one));
  const texts = (one: unknown): one is string[] => Array.isArray(one) && one.length <= 100 && one.every(isText);
  const { iteration, round, done, startedMs } = value;
  for (const count of [iteration, round, done, startedMs])
    if (!Number.isSafeInteger(count) || Number(count) < 0) return;
  if (!isText(step) || !steps.includes(step)) return undefined;
  if (milestone !== null && !(isText(milestone) && /^[A-Za-z0-9._-]{1,64}$/.test(milestone))) return undefined;
  if (![job, parent, judge, gate].every(isIdOrNull) || !texts(jobs) || !jobs.every(isId) || !texts(verified))
    return undefined;
  if ((prompt !== null && !isText(prompt)) || !isText(detail) || typeof isCommitted !== 'boolean') return undefined;
  if (digest !== null && !(isText(digest) && /^[0-9a-f]{1,64}$/.test(digest))) return undefined;
  const known = Object.keys(firstPosition).map((key) => [key, value[key]]);
  return Object.fromEntries(known) as unknown as Position;
}
