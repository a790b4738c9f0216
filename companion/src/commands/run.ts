// `run [options] -- CMD ARG...`: one command, once, without input, under a hard limit.

import path from 'node:path';
import { FaultError, usageError } from '../core/errors.ts';
import type { RunPart } from '../core/job.ts';
import { limits } from '../core/limits.ts';
import { variables } from '../platform/env.ts';
import { isFolder, realPath } from '../platform/folders.ts';
import { findProgram } from '../platform/which.ts';
import type { Command, Context } from './command.ts';
import { launchAndTell, launchWords } from './launching.ts';
import { folderSaid, onceWords, repeatedLaunch } from './once-words.ts';
import { launchOptions } from './options.ts';
import type { Parsed } from './parse.ts';

export const run: Command = {
  name: 'run',
  summary: 'run a long command as a job',
  form: '[options] -- COMMAND ARG...',
  words: { min: 0, max: 0, rest: true },
  options: {
    timeout: {
      kind: 'duration',
      value: 'D',
      range: limits.runTimeout,
      help: 'hard limit, counted from launch (default 24h, at most 30d)',
    },
    deadline: { kind: 'duration', value: 'D', range: limits.runTimeout, help: 'the same as --timeout' },
    'kill-after': {
      kind: 'duration',
      value: 'D',
      range: limits.runKillGrace,
      help: 'time between TERM and KILL (default 30s)',
    },
    cwd: { kind: 'text', value: 'DIR', help: 'folder to run in (default: here)' },
    shell: { kind: 'flag', help: 'give the one word after -- to /bin/sh -c' },
    'success-exit': {
      kind: 'count',
      value: 'N',
      range: { default: 0, min: 0, max: 255 },
      help: 'the exit code that means success (default 0)',
    },
    'max-output': {
      kind: 'size',
      value: 'SIZE',
      range: limits.maxOutput,
      help: 'cap of each output file on disk (default 64M)',
    },
    'first-output': {
      kind: 'duration',
      value: 'D',
      range: limits.optInLimit,
      help: 'end it when nothing was printed by then',
    },
    'stall-after': {
      kind: 'duration',
      value: 'D',
      range: limits.optInLimit,
      help: 'end it when nothing was printed for that long',
    },
    'checkpoint-every': {
      kind: 'duration',
      value: 'D',
      range: limits.checkpoint,
      help: 'judge its progress at this interval (default 1h)',
    },
    'sample-every': {
      kind: 'duration',
      value: 'D',
      range: limits.sample,
      help: 'look at its CPU, output and result paths this often (default 60s)',
    },
    probe: { kind: 'text', value: 'LINE', help: 'read-only shell line that prints its progress as one JSON object' },
    'probe-timeout': { kind: 'duration', value: 'D', range: limits.probe, help: 'bound of one probe (default 30s)' },
    expect: { kind: 'duration', value: 'D', range: limits.expect, help: 'expected duration; later asks for attention' },
    'keep-children': { kind: 'flag', help: 'leave processes alone that the command left behind' },
    ...launchOptions,
  },
  notes:
    'The command gets no input and runs without a shell, exactly as it stands after --. It is never started twice.',
  examples: [
    'run -- make test',
    'run --timeout 2h --once-key nightly -- python3 train.py --epochs 10',
    "run --shell -- 'make && make install'",
  ],

  async run(context, input) {
    const words = onceWords('run', input, folderSaid(context, input), null);
    const repeated = await repeatedLaunch(context, input, words, false);
    if (repeated) return repeated;
    const cwd = folderOf(context, input);
    const timeout = limitOf(input);
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
      run: commandOf(input, cwd),
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

function commandOf(input: Parsed, cwd: string): RunPart {
  const words = input.rest ?? [];
  const parts = {
    success_exit: input.count('success-exit') ?? 0,
    keep_children: input.has('keep-children'),
    checkpoint_ms: input.durationOrDefault('checkpoint-every'),
    sample_ms: input.durationOrDefault('sample-every'),
    probe: input.text('probe') ?? null,
    probe_ms: input.durationOrDefault('probe-timeout'),
    expect_ms: input.duration('expect') ?? null,
  };
  if (input.has('shell')) {
    if (words.length !== 1)
      throw usageError(
        `cannot take ${words.length} words with --shell: it needs the whole command line as one word after --`,
      );
    return { argv: ['/bin/sh', '-c', words[0] as string], program: '/bin/sh', ...parts };
  }
  const name = words[0] as string;
  const program = findProgram(name, cwd);
  if (program === undefined) throw missingProgram(name, cwd);
  return { argv: words, program, ...parts };
}

export function missingProgram(name: string, cwd: string): FaultError {
  const where = name.includes('/')
    ? `no executable file of that name (looked from ${cwd})`
    : `it is not on PATH (${variables.searchPath() || 'empty'})`;
  return new FaultError('preflight', `cannot run ${JSON.stringify(name)}: ${where}`, 'give the path of the program');
}
