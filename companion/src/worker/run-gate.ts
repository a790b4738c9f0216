// The life of a gate: mend what may be mended, judge the boundary, count it, publish. A verify command that passed is on disk, so that a replacement
// worker does not run it again on the very same tree.

import { drainMs, killSettleMs, toolGraceMs } from '../core/limits.ts';
import type { GatePart, GateReport } from '../core/loop.ts';
import { conclude } from '../jobs/conclude.ts';
import { treeOf } from '../jobs/tree.ts';
import { countGate } from '../loop/count.ts';
import { evaluate } from '../loop/evaluate.ts';
import { lockLoop, readLoop } from '../loop/files.ts';
import { gateError, gateText } from '../loop/gate-words.ts';
import { headOf, openLoopGit, uncommitted } from '../loop/git.ts';
import { digestOf } from '../loop/judge.ts';
import { type LoopPlace, loopPlace } from '../loop/place.ts';
import { isRepairable, repairLoop } from '../loop/repair.ts';
import { isoNow } from '../platform/clock.ts';
import { childEnvironment } from '../platform/env.ts';
import { readJson, writeJson } from '../platform/files.ts';
import { type TerminateReport, terminate } from '../platform/process-tree.ts';
import { readCancel } from '../store/records.ts';
import type { Claim } from './claim.ts';
import { Progress } from './progress.ts';
import { listenForStops, type Stop } from './watch-stops.ts';

export async function runGate(claim: Claim): Promise<void> {
  const part = claim.spec.gate as GatePart;
  const { generation, self, spec } = claim;
  const progress = new Progress(claim);
  if (generation === 1 || claim.isReplacementTold) progress.step('claimed', 'claimed', { worker: self.pid });
  else progress.step('claimed', 'worker_replaced', { worker: self.pid, generation, baseline_reset: false });
  if (progress.state.started_at === null) progress.step('started', 'started', {}, { started_at: isoNow() });
  if (generation > 1) await sweep(claim, toolGraceMs);
  const stop = new AbortController();
  let stopped: Stop | undefined;
  const release = listenForStops(claim, (reason) => {
    stopped ??= reason;
    stop.abort();
  });
  try {
    const place = loopPlace(part.folder, { folder: claim.root, option: spec.state_option });
    // A checkpoint that was begun and not ended is ended first.
    await lockLoop(place, () => undefined);
    const found = await judge(claim, part, place, stop.signal);
    // What was broken off proves nothing.
    const report = stopped === undefined ? found.report : undefined;
    if (report) await countGate(place, report, spec.id);
    release();
    await finish(claim, progress, { report, text: report ? found.text(report) : '', stopped });
  } finally {
    release();
  }
}

async function judge(claim: Claim, part: GatePart, place: LoopPlace, signal: AbortSignal) {
  const { spec } = claim;
  const asked = {
    runCommands: true,
    environment: childEnvironment({ id: spec.id, cwd: place.worktree, mark: spec.mark, add: {}, remove: [] }),
    signal,
    // The loop that asked is above this gate.
    exclude: [spec.id, ...(spec.owner === null ? [] : [spec.owner])],
    answers: part.judge,
    gate: spec.id,
    ...memoryOf(claim, place),
  };
  let report = await evaluate(place, asked);
  const repaired: string[] = [];
  if (part.repair && isRepairable(report) && !signal.aborted) {
    repaired.push(...(await repairLoop(place)));
    report = await evaluate(place, asked);
  }
  const read = readLoop(place);
  const digest = digestOf(read.kind === 'ok' ? read.state : null, report.questions);
  const told = repaired.map((line) => `repaired: ${line}\n`).join('');
  return { report, text: (final: GateReport) => `${gateText(final, digest)}${told}` };
}

/** Which commands passed for this tree: HEAD, and nothing uncommitted beside it. */
function memoryOf(claim: Claim, place: LoopPlace): { passed: ReadonlySet<string>; onPassed: (cmd: string) => void } {
  const tree = treeNow(place);
  const read = readJson(claim.paths.cursor);
  const before =
    claim.generation > 1 && read.kind === 'ok' && tree !== null && read.value.tree === tree ? read.value.passed : [];
  const passed = new Set(Array.isArray(before) ? before.filter((one): one is string => typeof one === 'string') : []);
  const told = new Set(passed);
  return {
    passed,
    onPassed(cmd) {
      told.add(cmd);
      if (tree !== null) writeJson(claim.paths.cursor, { tree, passed: [...told] }, { sync: false });
    },
  };
}

function treeNow(place: LoopPlace): string | null {
  const git = openLoopGit(place);
  if ('reason' in git) return null;
  const open = uncommitted(place, git.git);
  return 'files' in open && open.files.length === 0 ? headOf(git.git) : null;
}

async function finish(
  claim: Claim,
  progress: Progress,
  { report, text, stopped }: { report: GateReport | undefined; text: string; stopped: Stop | undefined },
): Promise<void> {
  const tree = await sweep(claim, drainMs);
  if (stopped === 'state_vanished') return;
  if (!report && stopped === 'canceled') {
    progress.note('cancel_requested', { request: readCancel(claim.paths) ?? null });
    progress.step('stop_asked', 'stopping', { reason: stopped });
  }
  conclude(claim, {
    reason: report ? 'judged' : (stopped ?? 'canceled'),
    exit: undefined,
    tree,
    reconciled: false,
    warnings: progress.state.warnings,
    own: { error: report ? gateError(report) : null, gate: report ?? null, text },
  });
}

function sweep({ spec, paths, self }: Claim, graceMs: number): Promise<TerminateReport> {
  const tree = treeOf(spec, paths, { worker: self, shim: null, child: null });
  return terminate(tree, { graceMs, settleMs: killSettleMs });
}
