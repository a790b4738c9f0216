// Which version is this program? First without starting anything: a CLI that came from npm has its package.json above the file that
// is really started. Only else the program itself is asked (`--version`), and its word kept in the user's cache.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { plainText } from '../core/excerpt.ts';
import { callerEnvironment } from './env.ts';
import { readText } from './files.ts';
import { realPath } from './folders.ts';
import { keepVersion, recallVersion } from './version-cache.ts';

/** How long a program may take to tell its version, and how much it may print, in ms and bytes. */
const askLimitMs = 10_000;
const askBytes = 64 * 1024;
/** No package.json of a CLI comes near it. */
const packageBytes = 1024 * 1024;
const versionForm = /\d{1,9}\.\d{1,9}(?:\.\d{1,9}){0,3}(?:-[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+){0,9})?/;

export interface VersionQuestion {
  /** Ask the program again, whatever the cache says: its file may be a wrapper around something that was updated. */
  isFresh?: boolean;
  limitMs?: number;
}

/**
 * The version of a program as text (`1.2.3`, `2026.1.2-beta.1`), or null when it cannot be told: the file is gone, hangs, fails or
 * prints no version. Never throws. `program` is an absolute path; `packages` are npm names that carry it.
 */
export function versionOf(program: string, packages: readonly string[], question: VersionQuestion = {}): string | null {
  let real: string;
  try {
    real = realPath(program);
  } catch {
    return null;
  }
  const told = packageVersion(real, packages) ?? (question.isFresh ? undefined : recallVersion(program));
  if (told !== undefined) return told;
  const answer = askProgram(program, question.limitMs ?? askLimitMs);
  // What did not answer at all is asked again the next time.
  if (answer !== undefined) keepVersion(program, answer);
  return answer ?? null;
}

/** Is `version` older than `oldest`? Numbers are compared one by one, a missing one is 0, pre-release tags do not count. */
export function isOlder(version: string, oldest: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(oldest)];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbersOf(version: string): number[] {
  return (/\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);
}

/** From the package.json above the real file, or beside a `.bin` folder in which a package manager put a wrapper script. */
function packageVersion(real: string, packages: readonly string[]): string | undefined {
  if (packages.length === 0) return undefined;
  for (let folder = path.dirname(real); ; folder = path.dirname(folder)) {
    const own = readPackage(folder);
    if (own && packages.includes(own.name)) return own.version;
    if (path.basename(folder) === '.bin' && path.basename(path.dirname(folder)) === 'node_modules') {
      return packages.map((name) => readPackage(path.join(path.dirname(folder), name))).find((one) => one)?.version;
    }
    if (folder === path.dirname(folder)) return undefined;
  }
}

/** Undefined without a name and something like a version; a folder that we may not read is none. */
function readPackage(folder: string): { name: string; version: string } | undefined {
  try {
    const text = readText(realPath(path.join(folder, 'package.json')), packageBytes);
    const value = JSON.parse(text ?? 'null') as { name?: unknown; version?: unknown } | null;
    if (typeof value?.name !== 'string' || typeof value.version !== 'string') return undefined;
    const version = /^\d+\.\d/.test(value.version) ? versionForm.exec(value.version)?.[0] : undefined;
    return version === undefined ? undefined : { name: value.name, version };
  } catch {
    return undefined;
  }
}

/**
 * A shell in a session of its own starts the program, says on descriptor 3 how it ended, and then ends its own group: what the program
 * left behind would hold the output open, and live on.
 */
const askScript = '"$0" --version 3>&-; echo $? >&3; kill -s KILL -- -$$';

/** The program's own word; null when it says none, undefined when it could not be asked or did not answer in time. */
function askProgram(program: string, limitMs: number): string | null | undefined {
  const options = {
    cwd: '/',
    env: callerEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'] as ('ignore' | 'pipe')[],
    timeout: limitMs,
    killSignal: 'SIGKILL' as const,
    maxBuffer: askBytes,
  };
  const { pid, output, error } = spawnSync('/bin/sh', ['-c', askScript, program], options);
  if (error) endGroup(pid);
  const [, stdout = '', stderr = '', status = ''] = (output ?? []).map((bytes) => bytes?.toString() ?? '');
  // Not ended, not there, or not to be executed.
  if (!/^\d+\n$/.test(status) || /^12[67]\n$/.test(status)) return undefined;
  // A refusal may hold versions of other things ("needs Node 22.19").
  if (status !== '0\n') return null;
  const texts = [stdout, stderr].map(plainText);
  // A version is told in a line of its own words; a stream of events, with its instants and numbers, is none.
  const plain = texts.map((text) =>
    text
      .split('\n')
      .filter((line) => !line.trimStart().startsWith('{'))
      .join('\n'),
  );
  return plain.map((text) => versionForm.exec(text)?.[0]).find((found) => found !== undefined) ?? null;
}

function endGroup(pid: number): void {
  if (!(pid > 1)) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
