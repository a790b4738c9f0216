// Judging a run while it runs: sampler, probe and checkpoints put together, and what is told of them. Nothing here can end the job but the
// stall that the caller opted into, and that is told to due.ts, not done here.

import { excerpt, plainText } from '../core/excerpt.ts';
import { freshMemory, type Judgement } from '../core/health.ts';
import type { RunPart } from '../core/job.ts';
import { limits, onStallBytes } from '../core/limits.ts';
import { treeOf } from '../jobs/tree.ts';
import { atMonotonic, isoNow, monotonicMs } from '../platform/clock.ts';
import { type FileFacts, fileFacts } from '../platform/file-facts.ts';
import { writeJson } from '../platform/files.ts';
import { exists, factsOf } from '../platform/folders.ts';
import type { Tree } from '../platform/process-members.ts';
import { endProbes } from '../platform/process-tree.ts';
import { measureTree } from '../platform/tree-usage.ts';
import { startCheckpoints } from './checkpoints.ts';
import type { Child } from './child.ts';
import type { Claim } from './claim.ts';
import { readMemory, rememberedOf } from './health-cursor.ts';
import { noteTrouble } from './note-trouble.ts';
import { makeProbe } from './probe.ts';
import type { Progress } from './progress.ts';
import { type Baseline, type Clock, type Look, Sampler } from './sampler.ts';
import { StallWatch, stallSampleMs } from './stall.ts';

const clock: Clock = { monotonicMs, at: atMonotonic, iso: isoNow };
/** A file system that answers later than this is not waited for. */
const lookMs = 5000;

export interface Judging {
  /** What was seen of a stall that the caller wants the job to end for. */
  stalled(): string | undefined;
  stop(): void;
}

export function startJudging(claim: Claim, progress: Progress, child: Child, run: RunPart): Judging {
  const { spec, paths } = claim;
  const tree = treeOf(spec, paths, { worker: claim.self, ...child });
  const isFirst = child.isOurs;
  // What an earlier worker could not see to its end.
  if (!isFirst) endProbes(tree);
  const launchMs = spec.deadline_mono_ms - spec.deadline_ms;
  const longMs = run.checkpoint_ms ?? limits.checkpoint.default;
  // All checkpoints lie on the grid of the shorter interval, where there are two.
  const everyMs = run.checkpoint_fast_ms ?? longMs;
  const sampleMs = Math.min(run.sample_ms ?? limits.sample.default, everyMs);
  const nowMs = clock.monotonicMs();
  const stall = spec.stall_ms === null ? undefined : new StallWatch(spec.stall_ms, isFirst ? launchMs : nowMs);
  const onError = (error: unknown): void => noteTrouble(claim.paths, error);

  const sampler = new Sampler({
    clock,
    everyMs: spec.stall_ms === null ? sampleMs : Math.min(sampleMs, stallSampleMs(spec.stall_ms)),
    look: () => lookAt(claim, tree, run),
    fromMs: isFirst ? launchMs : nowMs,
    baseline: isFirst ? baselineOf(run) : null,
    ...(stall ? { onSample: (activity, atMs) => stall.add(activity, atMs) } : {}),
    onError,
  });
  let isReset = !isFirst;
  const stopCheckpoints = startCheckpoints({
    clock,
    launchMs,
    everyMs,
    stride: Math.max(1, Math.round(longMs / everyMs)),
    expectMs: run.expect_ms ?? null,
    memory: isFirst ? freshMemory : readMemory(paths, Math.floor((nowMs - launchMs) / everyMs)),
    probe: makeProbe(claim, tree),
    take: () => sampler.take(),
    tell: (judgement) => {
      if (!exists(paths.folder)) return;
      tell(claim, progress, judgement, isReset);
      // Until the first good probe there is nothing to compare the next with.
      isReset = isReset && Boolean(run.probe) && judgement.memory.probe === null;
    },
    onError,
  });
  return {
    stalled: () => stall?.stalled(),
    stop: () => {
      stopCheckpoints();
      sampler.stop();
    },
  };
}

/** First what the next worker must know, then the event, then the state: a checkpoint may be lost with its worker, never told twice. */
function tell({ spec, paths }: Claim, progress: Progress, judgement: Judgement, isReset: boolean): void {
  const { checkpoint, memory, isNews } = judgement;
  const isAttention = checkpoint.state === 'attention';
  writeJson(paths.cursor, rememberedOf(memory), { sync: false });
  const { at: _, ...judged } = checkpoint;
  progress.note(
    'checkpoint',
    {
      message: 'long_wait_checkpoint',
      task: excerpt(plainText(spec.label ?? spec.id), 120),
      ...judged,
      ...(isReset ? { baseline_reset: true } : {}),
      ...(isAttention && spec.on_stall ? { on_stall: excerpt(plainText(spec.on_stall), onStallBytes) } : {}),
      wake: isNews ? ['checkpoint', 'attention'] : ['checkpoint'],
    },
    { health: checkpoint.state, attention_kind: checkpoint.attention_kind, checkpoint },
  );
}

/** As things were at launch: nothing used, nothing printed, and the files as the launcher saw them. */
function baselineOf(run: RunPart): Baseline {
  const known = [...(run.success_files ?? []), ...(run.result_baselines ?? [])];
  return { results: new Map(known.map(({ path, before }) => [path, before])) };
}

async function lookAt({ paths }: Claim, tree: Tree, run: RunPart): Promise<Look> {
  const named = new Set([...(run.success_files ?? []).map((one) => one.path), ...(run.result_paths ?? [])]);
  const [log, ...facts] = await Promise.all([
    run.log ? fileFacts(run.log, lookMs) : undefined,
    ...[...named].map((path) => fileFacts(path, lookMs)),
  ]);
  const results = new Map<string, FileFacts | null>();
  for (const [index, path] of [...named].entries()) {
    const known = facts[index];
    if (known !== undefined) results.set(path, known);
  }
  return {
    usage: measureTree(tree),
    stdout: factsOf(paths.output)?.size ?? 0,
    stderr: factsOf(paths.error)?.size ?? 0,
    results,
    log,
  };
}
