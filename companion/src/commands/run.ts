// `run [options] -- CMD ARG...`: one command, once, without input, under a hard limit.

import path from 'node:path';
import { FaultError, usageError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { isFolder, realPath } from '../platform/folders.ts';
import type { Command, Context } from './command.ts';
import { launchAndTell, launchWords, onStallOf } from './launching.ts';
import { folderSaid, onceWords, repeatedLaunch } from './once-words.ts';
import type { Parsed } from './parse.ts';
import { runOptions } from './run-options.ts';
import { limitWarnings, makeRunPart } from './run-part.ts';

export const run: Command = {
  name: 'run',
  summary: 'run a long command as a job',
  form: '[options] -- COMMAND ARG...',
  words: { min: 0, max: 0, rest: true },
  options: runOptions,
  notes:
    'The command gets no input and runs without a shell, exactly as it stands after --. It is never started twice.',
  examples: [
    'run -- make test',
    'run --timeout 2h --once-key nightly -- python3 train.py',
    'run --success-file model.pt --log train.log -- python3 train.py',
    "run --shell --pipefail -- 'make 2>&1 | tee build.log'",
  ],

  async run(context, input) {
    const words = onceWords('run', input, folderSaid(context, input), null);
    const repeated = await repeatedLaunch(context, input, words, false);
    if (repeated) return repeated;
    const cwd = folderOf(context, input);
    const timeout = limitOf(input);
    const part = await makeRunPart(input, cwd);
    return launchAndTell(context, input, {
      kind: 'run',
      verb: 'run',
      ...launchWords(input),
      cwd,
      deadlineMs: timeout,
      killGraceMs: input.durationOrDefault('kill-after'),
      maxOutputBytes: input.size('max-output') ?? limits.maxOutput.default,
      firstOutputMs: input.duration('first-output') ?? null,
      stallMs: input.duration('stall-after') ?? null,
      lineage: null,
      run: part,
      warnings: limitWarnings(part, timeout),
      onStall: onStallOf(input),
      staff: null,
      words,
    });
  },
};

function limitOf(input: Parsed): number {
  if (input.has('timeout') && input.has('deadline'))
    throw usageError('cannot take --timeout and --deadline together: they are the same');
  return input.has('deadline') ? input.durationOrDefault('deadline') : input.durationOrDefault('timeout');
}

/** Where the job runs: an existing folder, its links resolved. */
export function folderOf(context: Context, input: Parsed): string {
  const folder = path.resolve(context.cwd, input.text('cwd') ?? '.');
  if (!isFolder(folder))
    throw new FaultError(
      'preflight',
      `cannot run in ${folder}: there is no such folder`,
      'name an existing one with --cwd DIR',
    );
  return realPath(folder);
}
