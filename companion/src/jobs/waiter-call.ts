// Is a process one of our calls that wait? Its own command line says so, where the system shows it: a file in waiters/ can name any pid.
// A copy of the companion elsewhere, or a link of another name, is one too.
import path from 'node:path';
import { realPath } from '../platform/folders.ts';
import { readCommandLine, readFolder } from '../platform/process-table.ts';
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

/** True where no command line is shown (no /proc): then the identity must do. */
export function isWaitingCall(pid: number, kind: WaiterKind): boolean {
  const words = readCommandLine(pid);
  if (words === undefined) return process.platform !== 'linux';
  const at = words.findIndex((word, index) => index > 0 && isCompanion(word, pid));
  const verb = words[at + 1];
  if (at < 0 || verb === undefined) return false;
  if (kind === 'foreground') return verb === 'watch' && words.includes('--foreground');
  return waiting.includes(verb) || (verb === 'watch' && words.includes('--wait'));
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
