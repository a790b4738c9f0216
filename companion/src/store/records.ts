// The JSON files of a job folder, read with their form checked and written whole. Who writes what: spec (launcher, once),
// launch (whoever spawned the worker), worker (the worker), state (the worker, or a settling reader under the lock), cancel
// (whoever asked first). Unknown fields are kept readable; a file with a wrong form is damage, never an exception.

import type { ExitRecord, Identity, JobState, LaunchRecord, Spec, WorkerRecord } from '../core/job.ts';
import { kinds, outcomes } from '../core/job.ts';
import { instantOf } from '../core/recorded-time.ts';
import { type Read, readJson, readText, writeJson } from '../platform/files.ts';
import { isIdentity } from '../platform/identity.ts';
import { parseStat } from '../platform/process-table.ts';
import type { JobPaths } from './layout.ts';

export interface CancelRequest {
  by: Identity | null;
  owner: string | null;
  at: string;
  why: string | null;
}

const states = ['queued', 'starting', 'running', 'stopping', 'done', 'failed', 'timed_out', 'crashed', 'canceled'];

export function readSpec(paths: JobPaths): Read<Spec> {
  return typed<Spec>(paths.spec, (value) => {
    if (typeof value.id !== 'string' || paths.folder.split('/').at(-1) !== value.id)
      return 'its id is not that of its folder';
    if (typeof value.kind !== 'string' || !(kinds as readonly string[]).includes(value.kind))
      return `unknown kind ${String(value.kind)}`;
    if (typeof value.mark !== 'string' || value.mark.length < 16) return 'no mark';
    for (const name of ['verb', 'created_at', 'engine', 'cwd', 'mac'])
      if (typeof value[name] !== 'string') return `no ${name}`;
    if (instantOf(value.created_at) === null) return 'created_at is no instant';
    for (const name of ['deadline_ms', 'deadline_mono_ms', 'kill_grace_ms', 'max_output_bytes']) {
      if (typeof value[name] !== 'number') return `no ${name}`;
    }
    for (const name of ['owner', 'label'])
      if (value[name] !== null && typeof value[name] !== 'string') return `${name} is no text`;
    if (!isIdentity(value.launcher)) return 'no launcher identity';
    if (!isAbsent(value.notify) && !isWords(value.notify)) return 'a notifier of another form';
    if (value.kind === 'run' && (!isObject(value.run) || !isWords(value.run.argv))) return 'no command';
    if (value.kind === 'watch' && (!isObject(value.watch) || typeof value.watch.condition !== 'string'))
      return 'no condition';
    for (const kind of ['gate', 'loop'] as const)
      if (value.kind === kind && (!isObject(value[kind]) || typeof value[kind].folder !== 'string'))
        return `no folder of the ${kind}`;
    if (value.kind === 'timer') return timerFault(value.timer);
    if (value.kind === 'staff' && (!isObject(value.staff) || typeof value.staff.prompt !== 'string')) return 'no task';
    return undefined;
  });
}

function timerFault(timer: unknown): string | undefined {
  if (!isObject(timer) || typeof timer.due_at !== 'string' || !Number.isFinite(Date.parse(timer.due_at)))
    return 'no instant';
  return typeof timer.message === 'string' ? undefined : 'no message';
}

export function readState(paths: JobPaths): Read<JobState> {
  const read = typed<JobState>(paths.state, (value) => {
    if (typeof value.state !== 'string' || !states.includes(value.state)) return `unknown state ${String(value.state)}`;
    if (typeof value.rev !== 'number' || typeof value.seq !== 'number') return 'no rev or seq';
    if (typeof value.created_at !== 'string') return 'no created_at';
    // A time that cannot be read is damage, never an age of "long ago".
    for (const name of ['created_at', 'started_at', 'ended_at'])
      if (!isAbsent(value[name]) && instantOf(value[name]) === null) return `${name} is no instant`;
    if (value.warnings !== undefined && !(Array.isArray(value.warnings) && value.warnings.every(isNotice)))
      return 'warnings of another form';
    if (value.error !== undefined && value.error !== null && !isNotice(value.error)) return 'an error of another form';
    if (!isAbsent(value.signal) && typeof value.signal !== 'string') return 'signal is no text';
    for (const name of ['duration_ms', 'exit_code'])
      if (!isAbsent(value[name]) && typeof value[name] !== 'number') return `${name} is no number`;
    const { conversation, output } = value;
    if (conversation && (!isObject(conversation) || typeof conversation.id !== 'string'))
      return 'a conversation of another form';
    if (output && !isObject(output)) return 'an output of another form';
    return undefined;
  });
  if (read.kind !== 'ok') return read;
  // Fields that a release added later have their empty value in older records.
  const missing = { warnings: [], error: null, conversation: null, output: null, usage: null, reconciled: false };
  return { kind: 'ok', value: { ...missing, ...read.value } };
}

export function readLaunch(paths: JobPaths): Read<LaunchRecord> {
  return typed(paths.launch, (value) => (isIdentity(value.worker) ? undefined : 'no identity of a worker'));
}

export function readWorker(paths: JobPaths): Read<WorkerRecord> {
  return typed(paths.worker, (value) => {
    if (!isIdentity(value.worker)) return 'no identity of a worker';
    const others = [value.shim, value.child].filter((one) => one !== null && one !== undefined);
    return others.every(isIdentity) ? undefined : 'a damaged identity';
  });
}

export function readExit(paths: JobPaths): ExitRecord | undefined {
  const read = readJson(paths.exit);
  if (read.kind !== 'ok' || !Number.isInteger(read.value.exit_code)) return undefined;
  return {
    exit_code: Number(read.value.exit_code),
    signaled: read.value.signaled === true,
    spawn_failed: read.value.spawn_failed === true,
  };
}

/** The file lies where an agent may write: what is not of the right form counts as a request by nobody known. */
export function readCancel(paths: JobPaths): CancelRequest | undefined {
  const read = readJson(paths.cancel);
  if (read.kind !== 'ok') return undefined;
  const { by, owner, at, why } = read.value;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return { by: isIdentity(by) ? by : null, owner: text(owner), at: text(at) ?? 'unknown', why: text(why) };
}

/** The word that was written before the first signal of ours: why the tree is being ended. */
export function readReason(paths: JobPaths): string | undefined {
  return readText(paths.reason, 64)?.trim() || undefined;
}

/** A line of /proc/PID/stat (or `PID START` elsewhere) that shim and child wrote about themselves. */
export function readMark(file: string, boot: { boot_id: string; pid_ns: string }): Identity | undefined {
  const text = readText(file, 4096);
  if (!text?.endsWith('\n')) return undefined;
  const row = parseStat(text);
  const [pid, ...start] = row ? [String(row.pid), row.start] : text.trim().split(' ');
  const identity = { pid: Number(pid), start_token: start.join(' '), boot_id: boot.boot_id, pid_ns: boot.pid_ns };
  return isIdentity(identity) ? identity : undefined;
}

/** The state as it stands in result.json, which is written before state.json. Undefined unless it is the end of this job. */
export function readStoredState(paths: JobPaths, id: string): JobState | undefined {
  const read = readJson(paths.resultRecord);
  if (
    read.kind !== 'ok' ||
    read.value.id !== id ||
    typeof read.value.rev !== 'number' ||
    typeof read.value.seq !== 'number'
  )
    return undefined;
  return (outcomes as readonly unknown[]).includes(read.value.state)
    ? (pickState(read.value) as unknown as JobState)
    : undefined;
}

/** result.json tells more than the state holds. */
function pickState(record: Record<string, unknown>): Record<string, unknown> {
  const more = [
    'kind',
    'verb',
    'owner',
    'label',
    'cwd',
    'lineage',
    'ended_by',
    'ended_processes',
    'survivors',
    'mode',
    'backend',
    'model',
    'profile',
    'changes',
    'worktree',
    'findings',
    'timer',
    'result_paths',
    'findings_error',
    'result_path',
    'output_path',
    'error_path',
  ];
  return Object.fromEntries(Object.entries(record).filter(([name]) => !more.includes(name)));
}

/** `sync: false` for steps that mean nothing after a power loss (the machine's new boot id ends the job then). */
export function writeState(paths: JobPaths, state: JobState, options: { sync?: boolean } = {}): void {
  writeJson(paths.state, state, options);
}

function typed<T>(file: string, fault: (value: Record<string, unknown>) => string | undefined): Read<T> {
  const read = readJson(file);
  if (read.kind !== 'ok') return read;
  const name = file.split('/').at(-1);
  const reason = fault(read.value);
  return reason === undefined
    ? { kind: 'ok', value: read.value as T }
    : { kind: 'damaged', reason: `${name}: ${reason}` };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** What errors and warnings have. */
function isNotice(value: unknown): boolean {
  return isObject(value) && typeof value.code === 'string' && typeof value.message === 'string';
}

function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');
}
