// What a launch verb asks of launch.ts, and how two such requests are told to be the same.
import type {
  GatePart,
  HandbackPart,
  Lineage,
  LoopPart,
  RunPart,
  Spec,
  StaffPart,
  TimerPart,
  Warning,
  WatchPart,
  WorktreeNote,
} from '../core/job.ts';
import { limits } from '../core/limits.ts';
import { canonical, hashOf } from '../store/mac.ts';

export interface JobRequest {
  kind: Spec['kind'];
  verb: string;
  owner: string | null;
  label: string | null;
  onceKey: string | null;
  cwd: string;
  deadlineMs: number;
  killGraceMs: number;
  maxOutputBytes: number;
  firstOutputMs: number | null;
  stallMs: number | null;
  lineage: Lineage | null;
  /** `continue` without a job: which one it was may differ when the same call comes again. */
  asksForLatest?: boolean;
  /** The call as it was said (commands/once-words.ts); with a once-key. */
  words?: string;
  run: RunPart | null;
  staff: StaffPart | null;
  watch?: WatchPart | null;
  timer?: TimerPart | null;
  gate?: GatePart | null;
  loop?: LoopPart | null;
  milestone?: string | null;
  notify?: string[] | null;
  onStall?: string | null;
  maxLive?: number | null;
  handback?: HandbackPart | null;
  quietMs?: number | null;
  /** A linked worktree of its own: made for this job (`new`), or that of the job it goes on with. */
  worktree?: 'new' | WorktreeNote | null;
  warnings?: Warning[];
  /** Names of variables that carry a credential of the backend, beside those that look like one. */
  credentials?: readonly string[];
  /**
   * May the job be there beside those that are? Asked while nobody else launches with a question of its own; throws when not. What it
   * finds goes into the record, and `told` is called when the record is in place.
   */
  admit?: () => Promise<{ warnings: Warning[]; handback?: HandbackPart | null; told?: (id: string) => void }>;
}

/**
 * A digest of what the caller asked for, so that a key file holds no prompt. What was found out at launch (versions, commits, which job
 * was the latest) may differ from one call to the next, and so may fields that an older release did not know: what is empty is left out.
 */
export function askedOf(request: JobRequest): string {
  const { kind, verb, cwd, deadlineMs, killGraceMs, maxOutputBytes, firstOutputMs, stallMs } = request;
  if (request.timer)
    return hashOf(canonical({ kind, verb, timer: askedTimer(request.timer), lineage: request.lineage }));
  const run = request.run ? askedRun(request.run) : null;
  const base = { kind, verb, cwd, deadlineMs, killGraceMs, maxOutputBytes, firstOutputMs, stallMs, run };
  const lineage = request.asksForLatest ? { relation: request.lineage?.relation } : request.lineage;
  const worktree = request.worktree === 'new' ? { worktree: 'new' } : {};
  const staff = request.staff ? askedStaff(request.staff) : null;
  if (staff && request.asksForLatest) staff.resume = 'latest';
  return hashOf(canonical({ ...base, lineage, staff, ...worktree, ...askedWaiting(request), ...askedIdle(request) }));
}

/** What is empty or as it is without a word is left out; of a file that is to be made it is the name that was asked for. */
function askedRun({ success_files = [], result_baselines: _, ...run }: RunPart): Record<string, unknown> {
  const files = success_files.map((one) => one.path);
  const given = Object.entries({ ...run, success_files: files }).filter(
    ([name, value]) =>
      value !== null &&
      value !== undefined &&
      !(Array.isArray(value) && value.length === 0) &&
      value !== defaults[name],
  );
  return Object.fromEntries(given);
}

const defaults: Readonly<Record<string, unknown>> = {
  checkpoint_ms: limits.checkpoint.default,
  sample_ms: limits.sample.default,
  probe_ms: limits.probe.default,
};

/** Of `timer in` the delay counts, not the instant that it came to; and a timer is the same from whatever folder. */
function askedTimer({ due_at, delay_ms, message, slot }: TimerPart): Record<string, unknown> {
  return { message, slot, ...(delay_ms === null ? { due_at } : { delay_ms }) };
}

/** Of a watch the condition counts, not how things were when it was launched. */
function askedWaiting({ watch, onStall }: JobRequest): Record<string, unknown> {
  const { start: _start, ...asked } = watch ?? {};
  return { ...(watch ? { watch: asked } : {}), ...(onStall ? { on_stall: onStall } : {}) };
}

/** How many may be at work at once says when, not what. */
function askedIdle({ handback, quietMs, gate, loop, milestone }: JobRequest): Record<string, unknown> {
  return {
    ...(handback ? { handback: handback.dir } : {}),
    ...(quietMs ? { quiet_ms: quietMs } : {}),
    ...(gate ? { gate } : {}),
    ...(loop ? { loop } : {}),
    ...(milestone ? { milestone } : {}),
  };
}

function askedStaff(staff: StaffPart): Record<string, unknown> {
  const { mode, backend, program, model, profile, prompt, resume, custom, schema, base } = staff;
  const { brief: _brief, ...definition } = custom ?? {};
  return {
    ...{ mode, backend, program, model, profile, prompt, resume },
    custom: custom ? definition : null,
    ...(schema ? { schema } : {}),
    ...(base ? { base: base.rev } : {}),
  };
}
