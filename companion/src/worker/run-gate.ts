// The life of a gate: mend what may be mended, judge the boundary, count it, publish. A verify command that passed is on disk, so that a replacement
// worker does not run it again on the very same tree.

import { FaultError } from '../core/errors.ts';
import { drainMs, killSettleMs, toolGraceMs } from '../core/limits.ts';
import type { GatePart, GateReport } from '../core/loop.ts';
import { conclude } from '../jobs/conclude.ts';
import type { OwnEnd } from '../jobs/end-state.ts';
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
import { macOfShort, readKey, sameMac } from '../store/mac.ts';
import { readCancel } from '../store/records.ts';
import type { Claim } from './claim.ts';
import { Progress } from './progress.ts';
import { listenForStops, type Stop } from './watch-stops.ts';

/** How often what changed while it was judged is judged anew. */
const judgeRounds = 3;

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
    const found = await answer(claim, part, place, stop.signal).catch((error: unknown) => {
      if (stopped !== undefined || !(error instanceof FaultError)) throw error;
      return error;
    });
    // What was broken off proves nothing.
    const ending = stopped === undefined ? found : null;
    release();
    await finish(claim, progress, ending, stopped);
  } finally {
    release();
  }
}

interface Answer {
  report: GateReport;
  text: string;
}

/** Judged and counted. What changed meanwhile (a stop, a checkpoint, a commit) is judged anew: the answer must be about what stands there. */
async function answer(claim: Claim, part: GatePart, place: LoopPlace, signal: AbortSignal): Promise<Answer | null> {
  // A checkpoint that was begun and not ended is ended first.
  await lockLoop(place, () => undefined);
  for (let round = 0; round < judgeRounds; round += 1) {
    const before = standing(place);
    const found = await judge(claim, part, place, signal);
    if (signal.aborted) return null;
    if (standing(place).head !== before.head) continue;
    if (await countGate(place, found.report, claim.spec.id, before.hash)) return found;
  }
  throw new FaultError('busy', `the loop, or HEAD, changed ${judgeRounds} times while it was judged`);
}

/** What an answer is about; `hash` null where nothing can be counted. */
function standing(place: LoopPlace): { hash: string | null; head: string | null } {
  const read = readLoop(place);
  const git = openLoopGit(place);
  return {
    hash: read.kind === 'ok' && !read.isEdited ? read.state.hash : null,
    head: 'git' in git ? headOf(git.git) : null,
  };
}

async function judge(claim: Claim, part: GatePart, place: LoopPlace, signal: AbortSignal): Promise<Answer> {
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
  const told = repaired.map((line) => `repaired: ${line}\n`).join('');
  return { report, text: `${gateText(report, digestOf(place, report.questions))}${told}` };
}

/** Which commands passed for this tree: HEAD, and nothing uncommitted beside it. */
function memoryOf(claim: Claim, place: LoopPlace): { passed: ReadonlySet<string>; onPassed: (cmd: string) => void } {
  const tree = treeNow(place);
  const read = readJson(claim.paths.cursor);
  const before = read.kind === 'ok' && tree !== null && isOurs(claim, read.value, tree) ? read.value.passed : [];
  const passed = new Set(Array.isArray(before) ? before.filter((one): one is string => typeof one === 'string') : []);
  const told = new Set(passed);
  return {
    passed,
    onPassed(cmd) {
      told.add(cmd);
      const known = { tree, passed: [...told] };
      const key = readKey();
      if (tree === null || key === undefined) return;
      writeJson(claim.paths.cursor, { ...known, mac: macOfShort(promise(claim, known), key) }, { sync: false });
    },
  };
}

/** Sealed, because whoever can write there could skip a command by it. */
function isOurs(claim: Claim, { tree, passed, mac }: Record<string, unknown>, now: string): boolean {
  const key = readKey();
  return (
    key !== undefined &&
    tree === now &&
    typeof mac === 'string' &&
    sameMac(macOfShort(promise(claim, { tree, passed }), key), mac)
  );
}

function promise({ spec }: Claim, { tree, passed }: { tree: unknown; passed: unknown }): unknown {
  return { gate: spec.id, tree, passed };
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
  ending: Answer | FaultError | null,
  stopped: Stop | undefined,
): Promise<void> {
  const tree = await sweep(claim, drainMs);
  if (stopped === 'state_vanished') return;
  if (ending === null && stopped === 'canceled') {
    progress.note('cancel_requested', { request: readCancel(claim.paths) ?? null });
    progress.step('stop_asked', 'stopping', { reason: stopped });
  }
  conclude(claim, {
    reason: ending === null ? (stopped ?? 'canceled') : 'judged',
    exit: undefined,
    tree,
    reconciled: false,
    warnings: progress.state.warnings,
    own: ownEnd(ending),
  });
}

function ownEnd(ending: Answer | FaultError | null): OwnEnd {
  if (ending === null) return { error: null, gate: null, text: '' };
  if (!(ending instanceof FaultError))
    return { error: gateError(ending.report), gate: ending.report, text: ending.text };
  const text = `${ending.message}\n${ending.next === null ? '' : `try: ${ending.next}\n`}`;
  return { error: { code: 'nogo', message: ending.message }, gate: null, text };
}

function sweep({ spec, paths, self }: Claim, graceMs: number): Promise<TerminateReport> {
  const tree = treeOf(spec, paths, { worker: self, shim: null, child: null });
  return terminate(tree, { graceMs, settleMs: killSettleMs });
}
