// A stopped shim whose child has ended: it has only to write down how, and nobody sees the end before it did. And its own end, when the tree is
// ended: it is spared by whoever ends the tree, for its last word, and must not outlive the end that is published.
import type { Identity } from '../core/job.ts';
import { killSettleMs } from '../core/limits.ts';
import { monotonicMs, sleep } from '../platform/clock.ts';
import { markVariable } from '../platform/env.ts';
import { isStopped, livenessOf, signalIdentity } from '../platform/identity.ts';
import { readProcessVariable } from '../platform/process-table.ts';

export interface ShimPair {
  mark: string;
  shim: Identity | null;
  child: Identity | null;
}

/**
 * Let the shim go on when it is stopped and its child is not there any more. True when it was. A job that somebody stopped as a whole is left
 * as it is: its child is stopped, too, and so not dead.
 */
export function reviveShim({ mark, shim, child }: ShimPair): boolean {
  if (!shim || !child || !isStopped(shim) || livenessOf(child) !== 'dead' || !isOfJob(shim, mark)) return false;
  return signalIdentity(shim, 'SIGCONT');
}

/** While a tree is being ended. */
export function keepShimGoing(pair: () => ShimPair): () => void {
  const look = (): void => void reviveShim(pair());
  look();
  const timer = setInterval(look, 100);
  return () => clearInterval(timer);
}

/** After its tree was ended: it has its time to write exit.json, stopped or not; then it is ended as well. */
export async function endShim(shim: Identity | null, mark: string): Promise<void> {
  if (!shim || livenessOf(shim) !== 'alive' || !isOfJob(shim, mark)) return;
  if (await untilDead(shim, killSettleMs, () => isStopped(shim) && signalIdentity(shim, 'SIGCONT'))) return;
  await untilDead(shim, killSettleMs, () => signalIdentity(shim, 'SIGKILL'));
}

/** The record may name anybody: a shim carries the job's word, where that can be seen. */
function isOfJob(shim: Identity, mark: string): boolean {
  return process.platform !== 'linux' || readProcessVariable(shim.pid, markVariable) === mark;
}

async function untilDead(shim: Identity, patienceMs: number, push: () => unknown): Promise<boolean> {
  const until = monotonicMs() + patienceMs;
  for (let pause = 2; livenessOf(shim) === 'alive'; pause = Math.min(pause * 2, 100)) {
    if (monotonicMs() > until) return false;
    push();
    await sleep(pause);
  }
  return true;
}
