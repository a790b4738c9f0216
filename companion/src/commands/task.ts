// Reading the one task of a staff verb: from an option, a file or standard input.
import path from 'node:path';
import { errnoOf, FaultError, usageError } from '../core/errors.ts';
import { promptBytes } from '../core/limits.ts';
import { taskPlaceholder } from '../jobs/next-commands.ts';
import { readRange } from '../platform/files.ts';
import { factsOf, realPath } from '../platform/folders.ts';
import type { Context } from './command.ts';
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
  if (text.trim() === taskPlaceholder)
    throw usageError(
      `cannot take ${JSON.stringify(taskPlaceholder)} as the task: it only shows where yours belongs`,
      'put what the agent is to do in its place, or give it with --prompt-file PATH',
    );
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
