// The words of a job: kinds, states, identities and the records that stand on disk (field names as on disk).
// Hardly more than types. Lifecycle ("is it over?") and outcome ("did it work?") are two types; `state` is what is published.
import type { AttentionKind, Checkpoint, Health } from './health-words.ts';
import type { HandbackNote, HandbackPart, LivenessNote, QueueNote } from './idle.ts';
import type { GatePart, GateReport, LoopNote, LoopPart } from './loop.ts';
import type { RunPart } from './run-part.ts';
import type { StaffPart, TokenUsage, WorktreeNote } from './staff.ts';
import type { TimerPart, WatchNote, WatchPart } from './waiting.ts';

export type * from './health-words.ts';
export type * from './idle.ts';
export type * from './loop.ts';
export type * from './run-part.ts';
export type * from './staff.ts';
export type * from './waiting.ts';

export const kinds = ['staff', 'run', 'watch', 'timer', 'gate', 'loop'] as const;
export type Kind = (typeof kinds)[number];

/** Kinds whose work is done by the worker itself: no shim, no child; another worker goes on where one was killed. */
export function isWorkerOnly({ kind }: { kind: Kind }): boolean {
  return kind === 'watch' || kind === 'gate' || kind === 'loop';
}

export type Lifecycle = 'queued' | 'starting' | 'running' | 'stopping' | 'ended';

export const outcomes = ['done', 'failed', 'timed_out', 'crashed', 'canceled'] as const;
export type Outcome = (typeof outcomes)[number];

/** The lifecycle word until the end, the outcome after it. */
export type State = Exclude<Lifecycle, 'ended'> | Outcome;

/** What a dead process cannot keep. `start_token` is the kernel's start time of the pid, as text. */
export interface Identity {
  pid: number;
  start_token: string;
  boot_id: string;
  pid_ns: string;
}

/** `error.code` of an ended job (contract 3). */
export type JobErrorCode =
  | 'exit_nonzero'
  | 'signal'
  | 'hard_timeout'
  | 'response_timeout'
  | 'first_output_timeout'
  | 'stalled'
  | 'never_started'
  | 'spawn_failed'
  | 'worker_lost'
  | 'host_restarted'
  | 'survivors'
  | 'no_final_answer'
  | 'agent_error'
  | 'auth'
  | 'quota'
  | 'permission_denied'
  | 'session_lost'
  | 'conversation_mismatch'
  | 'artifact_missing'
  | 'output_unstorable'
  | 'watch_failed'
  | 'watch_error'
  | 'watch_expired'
  | 'nogo'
  | 'iterations_exhausted'
  | 'repeated_failure'
  | 'remediation_exhausted'
  | 'state_damaged';

export interface JobError {
  code: JobErrorCode;
  message: string;
  /** When the cause ends by itself, in the backend's own words or as an instant (quota). */
  resets?: string;
}

export interface Warning {
  code: string;
  message: string;
}

export interface Conversation {
  backend: string;
  id: string;
}

export interface Lineage {
  relation: 'continue' | 'restart';
  parent: string;
  root: string;
}

/** The frozen request: written once by the launcher, with a MAC (contract 11). */
export interface Spec {
  schema: 1;
  id: string;
  kind: Kind;
  /** The verb that started it: `run`, `staffer`, `ask`, ... */
  verb: string;
  created_at: string;
  owner: string | null;
  label: string | null;
  once_key: string | null;
  engine: string;
  cwd: string;
  /** Words that make another call find the state folder: none, or `--state-dir X`. */
  state_option: string[];
  /** The job's hard limit in ms, counted from launch in awake time; of a job that was queued from its turn. */
  deadline_ms: number;
  /** The instant of that limit on the monotonic clock of boot `launcher.boot_id`, in ms. */
  deadline_mono_ms: number;
  kill_grace_ms: number;
  max_output_bytes: number;
  first_output_ms: number | null;
  stall_ms: number | null;
  /** Random word that every process of this job carries in its environment. */
  mark: string;
  launcher: Identity;
  environment: EnvironmentNote;
  lineage: Lineage | null;
  run: RunPart | null;
  staff: StaffPart | null;
  watch?: WatchPart | null;
  timer?: TimerPart | null;
  gate?: GatePart | null;
  loop?: LoopPart | null;
  /** The milestone of the worktree's loop that it works for. */
  milestone?: string | null;
  /** Program and arguments that are told of the end and of each new cause for attention; from the caller or the user's own config. */
  notify?: string[] | null;
  /** The claims of its notices are sealed with the user's key. */
  sealed_notices?: true;
  /** What the caller decided beforehand to do about a stall; repeated with every attention. */
  on_stall?: string | null;
  /** It is started when fewer jobs than this are at work in its pool (jobs/queue.ts). */
  max_live?: number | null;
  handback?: HandbackPart | null;
  /** Of staff: when nothing moves for so long, somebody is to look. Ends nothing. */
  quiet_ms?: number | null;
  /** Told at launch; every state of the job begins with them. */
  warnings?: Warning[];
  worktree?: WorktreeNote | null;
  mac: string;
}

/** What is told of the caller's environment: names of credential variables and a keyed digest, never values. */
export interface EnvironmentNote {
  digest: string;
  credentials: string[];
}

export interface OutputNote {
  bytes: number;
  omitted: number;
  /** False when the omitted count is "about". */
  exact: boolean;
}

/** state.json: one writer at a time (the worker, or a settling reader under the lock). */
export interface JobState {
  schema: 1;
  id: string;
  rev: number;
  state: State;
  health: Health;
  attention_kind: AttentionKind;
  /** Number of the newest event. */
  seq: number;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  duration_ms: number | null;
  exit_code: number | null;
  signal: string | null;
  signal_certain: boolean | null;
  error: JobError | null;
  warnings: Warning[];
  conversation: Conversation | null;
  /** True when no worker saw the end and a reader settled it from the files. */
  reconciled: boolean;
  output: { stdout: OutputNote; stderr: OutputNote } | null;
  /** Of this job alone. */
  usage: TokenUsage | null;
  /** As the agent told it, when its numbers run on over the conversation; else null. */
  usage_total?: TokenUsage | null;
  /** Of a run: the newest judgement. */
  checkpoint?: Checkpoint | null;
  /** Of a run under a launcher that detaches itself: what its own status command said at the end. */
  task_status?: string;
  task_exit_code?: number | 'unknown';
  watch?: WatchNote | null;
  /** Of a gate: what it found. */
  gate?: GateReport | null;
  /** Of a loop: where it is. */
  loop?: LoopNote | null;
  /** While it is queued. */
  queue?: QueueNote | null;
  handback?: HandbackNote | null;
  /** Of an agent: the newest observation. */
  liveness?: LivenessNote | null;
}

/** launch.json: the worker as whoever spawned it saw it; `generation` counts replacements. */
export interface LaunchRecord {
  worker: Identity;
  generation: number;
}

/** worker.json: the worker's own word on who is who. */
export interface WorkerRecord {
  worker: Identity;
  shim: Identity | null;
  child: Identity | null;
  /** False where the file system has no FIFOs: waiters must look themselves. */
  fifo: boolean;
  /** The cgroup of the tree, where one could be made. */
  cgroup: string | null;
}

/** exit.json: what the shim saw the child end with. */
export interface ExitRecord {
  exit_code: number;
  /** The shell reported a death by signal, so 128+n is certain. */
  signaled: boolean;
  /** The program could not be executed at all. */
  spawn_failed: boolean;
}
