// Is a process one of our calls that wait? Its own command line says so, where the system shows it: a file in waiters/ can name any pid, and any job.
// What is sealed needs a verb only, whatever the program is called; of the rest the command line must name the job, and what it does not say counts
// for nothing.
import path from 'node:path';
import { parseDuration } from '../core/duration.ts';
import { limits } from '../core/limits.ts';
import { realPath } from '../platform/folders.ts';
import { readCommandLine, readFolder, readProcessVariable } from '../platform/process-table.ts';
import { companionFile } from '../platform/self.ts';

export type WaiterKind = 'wait' | 'foreground';

/** Verbs that wait, some of them only with --wait. */
const waiting = [
  'wait',
  'run',
  'staffer',
  'research',
  'review',
  'implement',
  'ask',
  'continue',
  'restart',
  'timer',
  'loop',
];

/** Of a sealed registration. True where no command line is shown (no /proc): then identity and seal must do. */
export function isWaitingCall(pid: number, kind: WaiterKind): boolean {
  const words = readCommandLine(pid)?.slice(1);
  if (words === undefined) return process.platform !== 'linux';
  if (kind === 'foreground') return words.includes('watch') && words.includes('--foreground');
  return words.some((word) => waiting.includes(word)) || (words.includes('watch') && words.includes('--wait'));
}

export interface CallSeen {
  timeoutMs: number;
  until: string[];
  owner: string | null;
}

/** Without a seal: what a call for this job says itself; undefined when it is none. */
export function readCall(pid: number, kind: WaiterKind, id: string): CallSeen | undefined {
  const words = readCommandLine(pid);
  if (words === undefined) return undefined;
  const at = words.findIndex((word, index) => index > 0 && isCompanion(word, pid));
  const said = words.slice(at + 2);
  if (at < 0 || words[at + 1] !== (kind === 'foreground' ? 'watch' : 'wait')) return undefined;
  if (kind === 'foreground' && !said.includes('--foreground')) return undefined;
  // A shorter beginning may have meant another one.
  const isNamed = said.some((word) => id.startsWith(word) && word.length >= id.lastIndexOf('-'));
  if (!isNamed) return undefined;
  const owner = optionOf(said, '--owner') ?? readProcessVariable(pid, 'JOB_OWNER');
  return {
    timeoutMs: patienceOf(said, kind),
    until: optionOf(said, '--until')?.split(',') ?? [],
    owner: owner || null,
  };
}

function patienceOf(words: readonly string[], kind: WaiterKind): number {
  if (kind === 'foreground') return Number.MAX_SAFE_INTEGER;
  const text = optionOf(words, '--timeout');
  try {
    return text === undefined ? limits.waitTimeout.default : parseDuration(text, '--timeout', limits.waitTimeout);
  } catch {
    return 0;
  }
}

function optionOf(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  if (at >= 0) return words[at + 1];
  return words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1);
}

function isCompanion(word: string, pid: number): boolean {
  if (isOurName(word)) return true;
  // Most words are options of Node.
  if (word.startsWith('-')) return false;
  try {
    const file = realPath(path.resolve(readFolder(pid) ?? '/', word));
    return isOurName(file) || file === companionFile();
  } catch {
    return false;
  }
}

function isOurName(file: string): boolean {
  return /^job-companion(?:\.c?js)?$/.test(path.basename(file));
}
