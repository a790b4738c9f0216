// The life of one job: start or find the child, follow it, stop it when there is a reason, see that its whole tree is gone, publish.
// It is done by whatever worker lives; every fact that the next one needs is on disk before it matters.
import type { Reading } from '../backends/backend.ts';
import { errnoOf, messageOf } from '../core/errors.ts';
import { drainMs, killSettleMs } from '../core/limits.ts';
import type { EndReason } from '../core/outcome.ts';
import { concludeAsked } from '../jobs/conclude-asked.ts';
import { startedAt } from '../jobs/end-state.ts';
import { endShim, keepShimGoing } from '../jobs/shim-end.ts';
import { treeOf } from '../jobs/tree.ts';
import { removeCgroup } from '../platform/cgroup.ts';
import { isoNow, monotonicMs } from '../platform/clock.ts';
import { uncarriableNames } from '../platform/env.ts';
import { writeJson } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import { type TerminateReport, terminate } from '../platform/process-tree.ts';
import { environmentDigest, readKey } from '../store/mac.ts';
import { readCancel, readExit, readMark } from '../store/records.ts';
import { followAgent } from './agent.ts';
import { attachChild, type Child, startChild } from './child.ts';
import type { Claim } from './claim.ts';
import type { Due } from './due.ts';
import { Follower } from './follow.ts';
import { planChild } from './plan.ts';
import { type Prepared, prepareStart } from './prepare.ts';
import { Progress } from './progress.ts';
import { keepLease } from './ticker.ts';
import { untilEnd } from './until-end.ts';

const nothing: TerminateReport = { step: 'none', ended: [], survivors: [] };

export async function supervise(claim: Claim): Promise<void> {
  const { paths, spec } = claim;
  const progress = new Progress(claim);
  const isClaimed = exists(paths.started);
  await tellClaim(claim, progress, isClaimed);
  const early = isClaimed ? undefined : reasonNotToStart(claim);
  if (early) return void (await endUnstarted(claim, early));

  const begun = isClaimed ? { child: await attachChild(claim), before: undefined } : await tryStart(claim, progress);
  if (!begun) return;
  const { child, before } = begun;
  writeJson(
    paths.worker,
    {
      worker: claim.self,
      shim: child.shim,
      child: child.child,
      fifo: claim.hasFifo,
      cgroup: claim.cgroup,
    },
    { sync: false },
  );
  tellStart(claim, progress, child);
  const agent = followAgent(claim, progress);
  const follower = new Follower(paths, spec.max_output_bytes, agent?.sink, () => agent?.update());
  const due = await untilEnd(claim, progress, child, follower, agent);
  // Ending a tree, and a question at the end, may take longer than a sign of life lasts.
  const release = keepLease(claim);
  try {
    await end(claim, progress, { child, before, follower, agent, due });
  } finally {
    release();
  }
}

interface Ending {
  child: Child;
  before: Prepared['before'];
  follower: Follower;
  agent: ReturnType<typeof followAgent>;
  due: Due;
}

async function end(claim: Claim, progress: Progress, parts: Ending): Promise<void> {
  const { paths, spec } = claim;
  const { child, before, follower, agent, due } = parts;
  const { reason, detail } = due;

  if (reason === 'state_vanished') {
    await terminate(treeOf(spec, paths, { worker: claim.self, ...child }), stopTimes(claim));
    await endShim(child.shim, spec.mark);
    removeCgroup(claim.cgroup, spec.id);
    return;
  }
  const ended = reason === 'exited' ? nothing : await stopTree(claim, child, progress, { reason, detail });
  const leftovers = await sweep(claim, child);
  const omitted = await follower.end();
  agent?.update();
  progress.flush();
  removeCgroup(claim.cgroup, spec.id);
  const exit = readExit(paths);
  const ending = {
    detail,
    ...lostReason(claim, child, reason, exit !== undefined),
    exit,
    tree: reason === 'exited' ? leftovers : { ...ended, survivors: leftovers.survivors },
    reconciled: false,
    reading: agent?.reading as Reading | undefined,
    omitted,
    before,
    warnings: progress.state.warnings,
  };
  await concludeAsked(claim, ending, treeOf(spec, paths, { worker: claim.self, ...child }));
}

function reasonNotToStart({ paths, spec }: Claim): EndReason | undefined {
  if (readCancel(paths)) return 'canceled';
  return monotonicMs() >= spec.deadline_mono_ms ? 'hard_timeout' : undefined;
}

async function endUnstarted(claim: Claim, reason: EndReason, detail?: string): Promise<undefined> {
  const ending = { reason, exit: undefined, tree: nothing, reconciled: false };
  await concludeAsked(claim, detail === undefined ? ending : { ...ending, detail }, null);
}

interface Begun {
  child: Child;
  /** The worktree as it was; undefined for a worker that came later. */
  before: Prepared['before'];
}

/** A start that the system refuses (folder gone, command line too long) is the end of the job, with the system's words. */
async function tryStart(claim: Claim, progress: Progress): Promise<Begun | undefined> {
  try {
    const { brief, before } = prepareStart(claim.root, claim.spec, claim.paths);
    // Looking at a large worktree takes its time: what came meanwhile counts.
    const late = reasonNotToStart(claim);
    if (late) return await endUnstarted(claim, late);
    const plan = planChild(claim.root, claim.spec, claim.paths, brief);
    if (plan.conversationId !== null && claim.spec.staff) {
      progress.state.conversation = { backend: claim.spec.staff.backend, id: plan.conversationId };
    }
    return { child: await startChild(claim, plan), before };
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    const detail =
      code === 'ENOENT' ? `${messageOf(error)} (does the folder ${claim.spec.cwd} still exist?)` : messageOf(error);
    return endUnstarted(claim, 'spawn_failed', detail);
  }
}

/** A shim that is gone without a word was killed, or had no room to begin. */
function lostReason(
  claim: Claim,
  child: Child,
  reason: EndReason,
  isTold: boolean,
): { reason: EndReason; detail?: string } {
  if (reason !== 'exited' || isTold) return { reason };
  if (child.child !== null || readMark(claim.paths.childMark, claim.self)) return { reason: 'worker_lost' };
  return { reason: 'spawn_failed', detail: `the job folder ${claim.paths.folder} could not be written` };
}

async function stopTree(claim: Claim, child: Child, progress: Progress, due: Due): Promise<TerminateReport> {
  const { paths, spec } = claim;
  const { reason, detail } = due;
  if (reason === 'canceled') progress.note('cancel_requested', { request: readCancel(paths) ?? null });
  progress.step('stop_asked', 'stopping', { reason, ...(detail === undefined ? {} : { seen: detail }) });
  const release = keepShimGoing(() => ({ mark: spec.mark, ...child }));
  try {
    const report = await terminate(treeOf(spec, paths, { worker: claim.self, ...child }), stopTimes(claim));
    // The shim writes exit.json as soon as its child is gone.
    await endShim(child.shim, spec.mark);
    return report;
  } finally {
    release();
  }
}

/** What the child left behind. The shim is gone by now, so nothing of its session is spared. */
async function sweep(claim: Claim, child: Child): Promise<TerminateReport> {
  const { paths, spec } = claim;
  // Only what a command left behind when it ended by itself is kept; without its end the rest is the command.
  if (spec.run?.keep_children && readExit(paths)) return nothing;
  return terminate(treeOf(spec, paths, { worker: claim.self, ...child }), { graceMs: drainMs, settleMs: killSettleMs });
}

function stopTimes(claim: Claim): { graceMs: number; settleMs: number } {
  return { graceMs: claim.spec.kill_grace_ms, settleMs: killSettleMs };
}

function tellStart(claim: Claim, progress: Progress, child: Child): void {
  if (progress.state.started_at !== null) return;
  const lost = uncarriableNames();
  const fields = { child: child.child?.pid ?? null, ...(lost.length > 0 ? { environment_names_lost: lost } : {}) };
  progress.step('started', 'started', fields, { started_at: startedAt(claim.paths) ?? isoNow() });
}

async function tellClaim(claim: Claim, progress: Progress, isClaimed: boolean): Promise<void> {
  const { generation, self, spec } = claim;
  if (generation === 1) return progress.step('claimed', 'claimed', { worker: self.pid });
  const key = readKey();
  const isChanged = !isClaimed && key !== undefined && environmentDigest(key) !== spec.environment.digest;
  const message =
    'the worker was lost before the start, and its replacement has another environment than the launcher had';
  const warnings = isChanged
    ? [...progress.state.warnings, { code: 'environment_changed', message }]
    : progress.state.warnings;
  if (claim.isReplacementTold) return progress.step('claimed', 'claimed', { worker: self.pid }, { warnings });
  progress.step('claimed', 'worker_replaced', { worker: self.pid, generation, baseline_reset: true }, { warnings });
}
