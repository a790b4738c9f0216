// Watching over an agent: two observations of half its quiet time each, then the word on how it is doing (core/liveness.ts). What is told
// is an event, and attention beside the state when somebody should look. Nothing here can end the job.
import { excerpt, plainText } from '../core/excerpt.ts';
import type { JobState, LivenessNote } from '../core/job.ts';
import { limits, livenessObservations, onStallBytes } from '../core/limits.ts';
import { freshLiveness, judgeLiveness, type LivenessJudgement, type LivenessMemory } from '../core/liveness.ts';
import { jobsAtWork } from '../jobs/own-jobs.ts';
import { treeOf } from '../jobs/tree.ts';
import { atMonotonic, isoNow, monotonicMs } from '../platform/clock.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { headFolder, headStamp } from '../platform/git-head.ts';
import { countConnections } from '../platform/open-connections.ts';
import { readEvents } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';
import { AgentTree } from './agent-tree.ts';
import type { Child } from './child.ts';
import type { Claim } from './claim.ts';
import { noteTrouble } from './note-trouble.ts';
import type { Progress } from './progress.ts';
import { Sampler } from './sampler.ts';

const sum = ({ stdout, stderr }: { stdout: number; stderr: number }): number => stdout + stderr;

/** Returns what stops it. */
export function watchLiveness(claim: Claim, progress: Progress, child: Child): () => void {
  const { spec, paths, root } = claim;
  const everyMs = Math.max(1, Math.floor((spec.quiet_ms ?? limits.quiet.default) / livenessObservations));
  const tree = new AgentTree(treeOf(spec, paths, { worker: claim.self, ...child }), child.child);
  const gitFolder = headFolder(spec.cwd);
  const onError = (error: unknown): void => noteTrouble(paths, error);
  const sizes = (): { stdout: number; stderr: number } => ({
    stdout: factsOf(paths.output)?.size ?? 0,
    stderr: factsOf(paths.error)?.size ?? 0,
  });
  let memory = freshLiveness;
  let stamp: string | undefined;
  let isStopped = false;
  let isLooking = false;
  let disarm: () => void = () => undefined;
  const begunMs = monotonicMs();

  const sampler = new Sampler({
    clock: { monotonicMs, at: atMonotonic, iso: isoNow },
    everyMs: Math.min(limits.sample.default, Math.max(1, Math.floor(everyMs / 2))),
    look: async () => ({ usage: tree.look(), ...sizes(), results: new Map(), log: undefined }),
    fromMs: begunMs,
    baseline: null,
    // Whoever was told of a standstill is told soon that it is over.
    onSample: ({ hasOutput }) => {
      if (hasOutput && memory.told.length > 0) void observe();
    },
    onError,
  });

  const observe = async (): Promise<void> => {
    if (isLooking || isStopped) return;
    isLooking = true;
    try {
      const activity = await sampler.take();
      const hasCommit = await isOtherHead();
      const isStill = !activity.hasOutput && !hasCommit;
      const jobs = isStill ? await jobsAtWork(root, spec.id) : 0;
      if (isStopped || !exists(paths.folder)) return;
      const seen = { at: isoNow(), everyMs, activity, hasCommit, jobs, bytes: sum(sizes()), ...tree.take() };
      const judgement = judgeLiveness(memory, seen);
      memory = judgement.memory;
      tell(claim, progress, judgement, tree);
    } catch (error) {
      onError(error);
    } finally {
      isLooking = false;
    }
  };

  /** The first look is the beginning; what is not known this time is no commit. */
  async function isOtherHead(): Promise<boolean> {
    if (gitFolder === undefined) return false;
    const [before, now] = [stamp, await headStamp(gitFolder)];
    stamp = now ?? before;
    return before !== undefined && now !== undefined && now !== before;
  }

  const arm = (): void => {
    if (isStopped) return;
    const n = Math.floor((monotonicMs() - begunMs) / everyMs) + 1;
    disarm = atMonotonic(begunMs + n * everyMs, () => void observe().finally(arm));
  };

  if (claim.generation > 1) memory = { ...memory, ...rememberedIn(paths, sum(sizes())) };
  void isOtherHead().catch(onError).finally(arm);
  return () => {
    isStopped = true;
    disarm();
    sampler.stop();
  };
}

/** What nobody needs to be told stands in the state alone. */
function tell({ spec }: Claim, progress: Progress, judgement: LivenessJudgement, tree: AgentTree): void {
  const { isNews, isAttention, fingerprint, wakes } = judgement;
  const note = isAttention ? withConnections(judgement.note, tree) : judgement.note;
  const standing: Partial<JobState> = isAttention
    ? { liveness: note, health: 'attention', attention_kind: 'task_attention' }
    : { liveness: note, ...(progress.state.health === 'attention' ? { health: 'unknown', attention_kind: null } : {}) };
  if (!isNews) {
    progress.change(standing);
    return;
  }
  const { at: _, ...words } = note;
  progress.note(
    'liveness',
    {
      ...words,
      quiet_ms: spec.quiet_ms ?? limits.quiet.default,
      fingerprint,
      ...(isAttention && spec.on_stall ? { on_stall: excerpt(plainText(spec.on_stall), onStallBytes) } : {}),
      ...(wakes ? { wake: ['attention'] } : {}),
    },
    standing,
  );
}

function withConnections(note: LivenessNote, tree: AgentTree): LivenessNote {
  const count = countConnections(tree.pids());
  if (count === null) return note;
  const held =
    count === 0
      ? 'it holds no network connection'
      : `it holds ${count} network connection${count === 1 ? '' : 's'} (an answer may be on its way)`;
  return { ...note, reason: `${note.reason}; ${held}` };
}

/** What an earlier worker told of the standstill that lasts: the same standstill is not told twice. */
function rememberedIn(paths: JobPaths, bytes: number): Pick<LivenessMemory, 'word' | 'told'> {
  const events = readEvents(paths, 0, 100_000).events.filter(({ type }) => type === 'liveness');
  const since = events.slice(events.findLastIndex(({ word }) => word === 'working') + 1);
  const told = since.flatMap(({ fingerprint }) => (typeof fingerprint === 'string' ? [fingerprint] : []));
  const word = words.find((one) => one === since.at(-1)?.word) ?? 'working';
  return { word, told: [...new Set(told)].filter((cause) => cause.endsWith(`@${bytes}`)).slice(0, mostCauses) };
}

const words: readonly LivenessNote['word'][] = ['waiting', 'dead_wait'];
const mostCauses = 8;
