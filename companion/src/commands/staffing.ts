// What the staff verbs share: the one task source, the request, the launch.
import path from 'node:path';
import { errnoOf, FaultError, usageError } from '../core/errors.ts';
import type { Lineage, Profile, StaffPart } from '../core/job.ts';
import { limits, promptBytes } from '../core/limits.ts';
import { type JobRequest, launch } from '../jobs/launch.ts';
import { makeStaffPart, requireFreeConversation } from '../jobs/staff-request.ts';
import { readRange } from '../platform/files.ts';
import { factsOf, realPath } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { rootPaths } from '../store/layout.ts';
import { ensureRoot } from '../store/root.ts';
import type { Context, Reply } from './command.ts';
import { checkLaunchOptions, launchAndTell, launchWords, tellLaunched } from './launching.ts';
import type { Parsed } from './parse.ts';

const sources = ['prompt', 'prompt-file', 'stdin'] as const;

/** The task, byte for byte: from exactly one source, not empty, at most 1 MiB, UTF-8. */
export async function taskOf(context: Context, input: Parsed): Promise<string> {
  const given = sources.filter((name) => input.has(name));
  if (given.length !== 1) {
    const came =
      given.length === 0 ? 'none was given' : `these came together: ${given.map((name) => `--${name}`).join(', ')}`;
    throw usageError(
      `cannot tell the task: exactly one of --prompt TEXT, --prompt-file PATH and --stdin is needed; ${came}`,
    );
  }
  const text =
    input.text('prompt') ??
    decode(given[0] === 'stdin' ? await context.readStdin() : readTask(context, input.text('prompt-file') as string));
  const size = Buffer.byteLength(text);
  if (text.trim() === '') throw usageError(`cannot take an empty task from --${given[0]}`);
  if (size > promptBytes) throw tooLong(size);
  return text;
}

function tooLong(size: number): FaultError {
  return usageError(
    `cannot take a task of ${size} bytes: at most ${promptBytes} (1 MiB) are allowed`,
    'put the material into a file and name it in the task',
  );
}

function readTask(context: Context, name: string): Buffer {
  const file = path.resolve(context.cwd, name);
  try {
    const real = realPath(file);
    const size = factsOf(real)?.size ?? 0;
    if (size > promptBytes) throw tooLong(size);
    const read = readRange(real, 0, size);
    if (read) return read.bytes;
  } catch (error) {
    if (error instanceof FaultError) throw error;
    throw new FaultError('preflight', `cannot read the task from ${file} (${errnoOf(error) ?? 'error'})`);
  }
  throw new FaultError(
    'preflight',
    `cannot read the task from ${file}: it is no regular file`,
    'give the task with --stdin',
  );
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageError('cannot take the task: it is no UTF-8 text');
  }
}

export interface StaffLaunch {
  verb: string;
  staff: StaffPart;
  cwd: string;
  lineage: Lineage | null;
  isSynchronous: boolean;
  /** Where they are not options of this command. */
  deadlineMs?: number;
  firstOutputMs?: number | null;
  stallMs?: number | null;
}

export async function launchStaff(context: Context, input: Parsed, job: StaffLaunch): Promise<Reply> {
  checkLaunchOptions(input);
  const request: JobRequest = {
    kind: 'staff',
    verb: job.verb,
    ...launchWords(input),
    cwd: job.cwd,
    deadlineMs: job.deadlineMs ?? input.durationOrDefault('timeout'),
    killGraceMs: limits.staffKillGrace.default,
    maxOutputBytes: limits.maxOutput.default,
    firstOutputMs: job.firstOutputMs ?? input.duration('first-output') ?? null,
    stallMs: job.stallMs ?? input.duration('stall-after') ?? null,
    lineage: job.lineage,
    run: null,
    staff: job.staff,
  };
  const { resume, backend } = job.staff;
  if (resume === null) return launchAndTell(context, input, request, job.isSynchronous);
  // Between the look and the new job nobody else may continue the same conversation.
  const root = context.root(input);
  ensureRoot(root.folder);
  const launched = await withLock(rootPaths(root.folder).lock, async () => {
    requireFreeConversation(root, backend, resume);
    return launch(root, request);
  });
  return tellLaunched(context, input, root, launched, job.isSynchronous);
}

export function profileOf(input: Parsed, fallback: Profile): Profile {
  return (input.text('profile') as Profile | undefined) ?? fallback;
}

export function freshStaff(
  input: Parsed,
  words: { mode: string; prompt: string; profile: Profile; cwd: string },
): StaffPart {
  return makeStaffPart({ ...words, backend: input.text('backend'), model: input.text('model') ?? null, resume: null });
}
