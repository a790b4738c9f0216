// A command that is run again and again and whose exit code is the verdict. What each code means is said by the caller, the program by
// its whole path: nothing is searched for and nothing put in its place.
import path from 'node:path';
import { FaultError, usageError } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Given } from '../core/option-table.ts';
import { quoteWords } from '../core/shell-words.ts';
import { isExecutable } from '../platform/folders.ts';
import type { ToolAnswer } from '../platform/tool.ts';
import { findProgram } from '../platform/which.ts';
import { seen } from './local.ts';
import type { Fault, Look, Trouble, Watch } from './watch.ts';

/** What a shell says of a program that cannot be executed. */
const unusable = [126, 127];

export const cmd = {
  id: 'cmd',
  summary: 'a command that says so by its exit code',
  form: '-- /ABSOLUTE/TOOL ARG...',
  words: { min: 0, max: 0, rest: true },
  options: {
    'met-exit': { kind: 'list', value: 'N', help: 'exit code that means: it holds (default 0; may be repeated)' },
    'fail-exit': {
      kind: 'list',
      value: 'N',
      help: 'exit code that means: it can never hold (default: none; may be repeated)',
    },
  },
  notes:
    'Every other exit code means: not yet. The last line that it prints is the evidence. It is run once at each interval, without input and without a shell, and must only look: the job has no other record of what it does. What it leaves behind is ended.',
  examples: [
    'watch cmd --for 7h -- /usr/bin/test -e /mnt/share/ready',
    'watch cmd --fail-exit 2 --for 1d -- /opt/bin/queue-state 4711',
  ],
  isRemote: false,

  read(given, { cwd }) {
    const [program = '', ...args] = given.rest ?? [];
    requireAbsolute(program, args, cwd);
    const met = codes(given, 'met-exit', [0]);
    const fail = codes(given, 'fail-exit', []);
    const both = met.filter((code) => fail.includes(code));
    if (both.length > 0) throw usageError(`cannot take exit code ${both[0]} as both --met-exit and --fail-exit`);
    return { input: { program, args, met, fail }, words: `cmd ${excerpt(quoteWords([program, ...args]), 160)}` };
  },

  async look(input, tools) {
    const { program, args, met, fail } = input as { program: string; args: string[]; met: number[]; fail: number[] };
    const isMeant = (code: number): boolean => met.includes(code) || fail.includes(code);
    if (!isExecutable(program)) return missing(program, 'there is no executable file of that name');
    const answer = await tools.run({ program, args });
    const { code } = answer;
    if (answer.how !== 'exited' || code === null) return trouble(program, answer);
    if (unusable.includes(code) && !isMeant(code)) return missing(program, lastLine(answer) || `exit code ${code}`);
    return verdict(code, met, fail, lastLine(answer));
  },
} as const satisfies Watch;

function requireAbsolute(program: string, args: string[], cwd: string): void {
  if (path.isAbsolute(program)) {
    if (isExecutable(program)) return;
    throw new FaultError('preflight', `cannot watch with ${program}: there is no executable file of that name`);
  }
  const found = findProgram(program, cwd);
  throw usageError(
    `cannot watch with ${JSON.stringify(program)}: give the whole path of the program, so that it is the same at every look`,
    found === undefined ? null : `-- ${quoteWords([found, ...args])}`,
  );
}

function codes(given: Given, option: string, none: number[]): number[] {
  const texts = given.texts(option);
  if (texts.length === 0) return none;
  return texts.map((text) => {
    if (!/^\d{1,3}$/.test(text) || Number(text) > 255)
      throw usageError(`cannot take --${option} ${JSON.stringify(text)}: allowed are whole numbers from 0 to 255`);
    return Number(text);
  });
}

function verdict(code: number, met: number[], fail: number[], text: string): Look {
  const said = text === '' ? '' : `: ${text}`;
  const more = { facts: { exit_code: code }, key: `exit-${code}` };
  if (met.includes(code)) return seen('met', 'met', `exit code ${code}${said}`, more);
  if (fail.includes(code)) return seen('failed', 'failed', `exit code ${code}${said}`, more);
  return seen('pending', 'pending', `exit code ${code}${said}`, more);
}

function trouble(program: string, { how, reason }: ToolAnswer): Trouble {
  const again = { kind: 'trouble' as const, retryAfterMs: null };
  switch (how) {
    case 'timeout':
    case 'aborted':
      return {
        ...again,
        cause: 'timeout',
        message: `${program} did not end in time (--attempt-timeout) and was ended`,
      };
    case 'flooded':
      return { ...again, cause: 'failed', message: `${program} printed more than 1 MiB and was ended` };
    default:
      return { ...again, cause: 'failed', message: `${program} could not be run${reason ? `: ${reason}` : ''}` };
  }
}

function missing(program: string, why: string): Fault {
  return { kind: 'fault', cause: 'tool_missing', message: `cannot run ${program}: ${why}` };
}

/** Of stdout, or of stderr when there is none. */
function lastLine({ stdout, stderr }: ToolAnswer): string {
  for (const bytes of [stdout, stderr]) {
    const line = plainText(bytes.subarray(-8192).toString('utf8')).trim().split('\n').at(-1)?.trim();
    if (line) return line;
  }
  return '';
}
