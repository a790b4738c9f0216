// What is started for a `run`: the program as it was named, or a shell that gets one line. Never a login shell, so that PATH stays as it is.
import { FaultError, usageError } from '../core/errors.ts';
import type { RunPart } from '../core/job.ts';
import { limits, probeBytes } from '../core/limits.ts';
import { quoteWords } from '../core/shell-words.ts';
import { toolEnvironment, variables } from '../platform/env.ts';
import { selfWords } from '../platform/self.ts';
import { findProgram } from '../platform/which.ts';
import { misplacedIn } from './misplaced.ts';
import type { Parsed } from './parse.ts';
import { runOptions } from './run-options.ts';

type Program = Pick<RunPart, 'argv' | 'program'>;

export async function programOf(input: Parsed, cwd: string): Promise<Program> {
  const words = input.rest ?? [];
  checkFirst(words);
  if (input.has('shell')) {
    if (words.length !== 1)
      throw usageError(
        `cannot take ${words.length} words with --shell: it needs the whole command line as one word after --`,
      );
    return shellOf(words[0] as string, input.has('pipefail'));
  }
  const program = requireProgram(words[0] as string, cwd);
  return { argv: [...words], program };
}

/** No program is called like that; an option of ours that stands behind `--` is. */
function checkFirst(words: readonly string[]): void {
  const [first = ''] = words;
  if (!first.startsWith('--')) return;
  const misplaced = misplacedIn(runOptions, words);
  throw usageError(
    `cannot run ${JSON.stringify(first)} as a program: options go before --`,
    misplaced && misplaced.program.length > 0
      ? quoteWords([...selfWords(), 'run', ...misplaced.options, '--', ...misplaced.program])
      : quoteWords([...selfWords(), 'run', '--help']),
  );
}

export function requireProgram(name: string, cwd: string): string {
  const program = findProgram(name, cwd);
  if (program !== undefined) return program;
  const where = name.includes('/')
    ? `no executable file of that name (looked from ${cwd})`
    : `it is not on PATH (${variables.searchPath() || 'empty'})`;
  throw new FaultError('preflight', `cannot run ${JSON.stringify(name)}: ${where}`, 'give the path of the program');
}

async function shellOf(line: string, hasPipefail: boolean): Promise<Program> {
  if (!hasPipefail) return { argv: [sh, '-c', line], program: sh };
  const program = findBash() ?? ((await hasOption(sh)) ? sh : undefined);
  if (program !== undefined) return { argv: [program, '-o', 'pipefail', '-c', line], program };
  throw new FaultError(
    'preflight',
    `cannot take --pipefail: there is no bash on PATH, and ${sh} has no such option`,
    'install bash, or leave --pipefail away',
  );
}

const sh = '/bin/sh';

/** Folders of PATH that count from wherever one stands are no place for the shell of a job. */
function findBash(): string | undefined {
  const folders = variables.searchPath().split(':');
  const found = folders.filter((folder) => folder.startsWith('/')).map((folder) => findProgram(`${folder}/bash`, '/'));
  return found.find((file) => file !== undefined);
}

async function hasOption(program: string): Promise<boolean> {
  const { runTool } = await import('../platform/tool.ts');
  const args = ['-o', 'pipefail', '-c', ':'];
  const environment = toolEnvironment();
  const timeoutMs = limits.probe.default;
  const answer = await runTool({ program, args, cwd: '/', environment, timeoutMs, limit: probeBytes });
  return answer.code === 0;
}
