// The test command of `verify --rerun`: words of the caller's own command line, run once in the folder of the job, without a shell, bounded in
// time and output.
import path from 'node:path';
import { formatDuration } from '../../core/duration.ts';
import { FaultError } from '../../core/errors.ts';
import { plainText, tail } from '../../core/excerpt.ts';
import { rerunBytes, textTailBytes } from '../../core/limits.ts';
import { quoteWords } from '../../core/shell-words.ts';
import { monotonicMs } from '../../platform/clock.ts';
import { callerEnvironment, variables } from '../../platform/env.ts';
import { isExecutable, isFolder } from '../../platform/folders.ts';
import { runTool, type ToolAnswer } from '../../platform/tool.ts';
import { findTool } from '../../platform/which.ts';

export interface Rerun {
  command: string;
  /** Null: it did not get to an end of its own. */
  isPassed: boolean | null;
  /** How it ended, in words. */
  reason: string;
  exit_code: number | null;
  duration_ms: number;
  /** Plain text. */
  stdout_tail: string;
  stderr_tail: string;
}

/** Throws 'preflight' when there is no such program. Never throws for how it ends. */
export async function rerunTests(
  words: readonly string[],
  { cwd, timeoutMs, signal }: { cwd: string; timeoutMs: number; signal: AbortSignal },
): Promise<Rerun> {
  const command = quoteWords([...words]);
  const none = { command, isPassed: null, exit_code: null, duration_ms: 0, stdout_tail: '', stderr_tail: '' };
  if (!isFolder(cwd)) return { ...none, reason: `the folder of the job, ${cwd}, is gone` };
  const program = requireProgram(words[0] ?? '', cwd);
  const began = monotonicMs();
  const answer = await runTool({
    program,
    args: words.slice(1),
    cwd,
    environment: { ...callerEnvironment(), PWD: cwd },
    timeoutMs,
    limit: rerunBytes,
    signal,
  });
  return {
    command,
    isPassed: answer.how === 'exited' && answer.code !== null ? answer.code === 0 : null,
    reason: reasonOf(answer, timeoutMs),
    exit_code: answer.code,
    duration_ms: Math.round(monotonicMs() - began),
    stdout_tail: tail(plainText(answer.stdout.toString('utf8')), textTailBytes).text,
    stderr_tail: tail(plainText(answer.stderr.toString('utf8')), textTailBytes).text,
  };
}

/** By name from absolute folders of PATH only: a relative one would lead to what the agent left there. */
function requireProgram(word: string, cwd: string): string {
  const file = word.includes('/') ? path.resolve(cwd, word) : findTool(word);
  if (file !== undefined && isExecutable(file)) return file;
  const where = word.includes('/')
    ? `there is no executable file of that name (looked from ${cwd}, the folder of the job)`
    : `it is not on PATH (${variables.searchPath() || 'empty'})`;
  throw new FaultError(
    'preflight',
    `cannot run ${JSON.stringify(word)} for --rerun: ${where}`,
    'name a program that is there',
  );
}

function reasonOf(answer: ToolAnswer, timeoutMs: number): string {
  switch (answer.how) {
    case 'exited':
      return answer.code === null ? 'it ended, nobody knows how' : `it ended with ${answer.code}`;
    case 'timeout':
      return `it took longer than ${formatDuration(timeoutMs)} (--rerun-timeout) and was ended`;
    case 'flooded':
      return `it printed more than ${rerunBytes} bytes and was ended`;
    case 'aborted':
      return 'it was interrupted';
    case 'failed':
      return `it could not be started (${answer.reason ?? 'error'})`;
  }
}
