// What the options of `run` come to: checked together, paths made absolute, and the files that must change looked at as they are now.
import { formatDuration, parseDuration } from '../core/duration.ts';
import { usageError } from '../core/errors.ts';
import { byteLength } from '../core/excerpt.ts';
import type { RunPart, Warning } from '../core/job.ts';
import { autoShare, identityBytes, limits, shellLineBytes } from '../core/limits.ts';
import { quoteWords } from '../core/shell-words.ts';
import { pathsBefore, requireLogPath } from '../jobs/artifact-paths.ts';
import { selfWords } from '../platform/self.ts';
import type { Parsed } from './parse.ts';
import { programOf } from './run-program.ts';

export async function makeRunPart(input: Parsed, cwd: string): Promise<RunPart> {
  checkTogether(input);
  const [checkpoints, log] = [checkpointsOf(input.text('checkpoint-every')), input.text('log')];
  const part = {
    success_exit: input.count('success-exit') ?? 0,
    // A launcher that detaches itself leaves its task behind on purpose.
    keep_children: input.has('keep-children') || input.has('status-cmd'),
    ...pathsBefore({ results: input.texts('result'), successFiles: input.texts('success-file') }, cwd),
    log: log === undefined ? null : requireLogPath(log, cwd),
    expect_ms: input.duration('expect') ?? null,
    ...checkpoints,
    sample_ms: Math.min(
      input.durationOrDefault('sample-every'),
      checkpoints.checkpoint_fast_ms ?? checkpoints.checkpoint_ms,
    ),
    probe: lineOf(input, 'probe'),
    probe_ms: input.durationOrDefault('probe-timeout'),
    status_cmd: lineOf(input, 'status-cmd'),
    identity: identityOf(input),
  };
  return { ...(await programOf(input, cwd)), ...part };
}

/** What can be meant, and can never be told. */
export function limitWarnings({ expect_ms }: RunPart, deadlineMs: number): Warning[] {
  if (typeof expect_ms !== 'number' || expect_ms < deadlineMs) return [];
  const message = `--expect ${formatDuration(expect_ms)} is not below the hard limit of ${formatDuration(deadlineMs)}: the job is ended before it can be called late`;
  return [{ code: 'expect_beyond_limit', message }];
}

function checkpointsOf(text: string | undefined): { checkpoint_ms: number; checkpoint_fast_ms?: number } {
  const { checkpoint, checkpointAuto } = limits;
  if (text === undefined) return { checkpoint_ms: checkpoint.default };
  const auto = /^auto(?::(.*))?$/s.exec(text);
  if (!auto) return { checkpoint_ms: parseDuration(text, '--checkpoint-every', checkpoint) };
  const long =
    auto[1] === undefined ? checkpointAuto.default : parseDuration(auto[1], '--checkpoint-every auto', checkpointAuto);
  // A whole number of times: all checkpoints lie on one grid.
  const short = Math.ceil(long / autoShare);
  return { checkpoint_ms: short * autoShare, checkpoint_fast_ms: short };
}

function checkTogether(input: Parsed): void {
  const needs: [string, string][] = [
    ['pipefail', 'shell'],
    ['identity', 'status-cmd'],
    ['status-cmd', 'identity'],
    ['probe-timeout', 'probe'],
  ];
  for (const [name, other] of needs)
    if (input.has(name) && !input.has(other))
      throw usageError(`cannot take --${name} without --${other}: ${whyTogether[name]}`, help());
}

const whyTogether: Readonly<Record<string, string>> = {
  pipefail: 'it is an option of that shell',
  identity: 'only that command can name the task',
  'status-cmd': 'its answer counts only for the task that you name',
  'probe-timeout': 'there is no probe to be bounded',
};

function lineOf(input: Parsed, name: string): string | null {
  const line = input.text(name);
  if (line === undefined) return null;
  if (line.trim() === '') throw usageError(`cannot take an empty --${name}: allowed is one line for /bin/sh`, help());
  requireSize(name, line, shellLineBytes);
  return line;
}

function identityOf(input: Parsed): string | null {
  const text = input.text('identity');
  if (text === undefined) return null;
  if (text.trim() === '' || /[\r\n]/.test(text))
    throw usageError(`cannot take --identity ${JSON.stringify(text)}: allowed is one line that names one task`, help());
  requireSize('identity', text, identityBytes);
  return text;
}

function requireSize(name: string, text: string, limit: number): void {
  const size = byteLength(text);
  if (size > limit) throw usageError(`cannot take --${name} of ${size} bytes: at most ${limit} are allowed`, help());
}

function help(): string {
  return quoteWords([...selfWords(), 'run', '--help']);
}
