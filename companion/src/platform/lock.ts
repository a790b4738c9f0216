// A short exclusion around a write, with the holder's identity in it: a dead holder is superseded at once, a living one is
// waited for and named. (proper-lockfile knows a holder only by the age of a folder.)
//
// The lock is a chain of numbered files. To take it: look at the highest number N; when it is free (`N.free`) or its holder is
// dead, create N+1 exclusively (link). Nobody ever removes the highest number, so two takers cannot both succeed, and
// a taker that was late finds a higher number than its own and steps back.
import { linkSync, renameSync } from 'node:fs';
import path from 'node:path';
import { errnoOf, FaultError } from '../core/errors.ts';
import type { Identity } from '../core/job.ts';
import { leaseStaleMs, lockWaitMs } from '../core/limits.ts';
import { monotonicMs, nowMs, sleep } from './clock.ts';
import { createFolder, readJson, removeFile, writeFile } from './files.ts';
import { factsOf, listNames } from './folders.ts';
import { isIdentity, livenessOf, ownIdentity } from './identity.ts';

/**
 * Run `fn` alone among all processes that use this folder. Throws `busy` when a living holder stays for `waitMs`. `mayPass`: a living
 * holder that is passed all the same; only where every holder asks `isHeld` between what it has written and what it does because of that.
 */
export async function withLock<T>(
  folder: string,
  fn: (isHeld: () => boolean) => Promise<T> | T,
  waitMs = lockWaitMs,
  mayPass: (holder: Identity) => boolean = () => false,
): Promise<T> {
  const { release, isHeld } = await take(folder, waitMs, mayPass);
  try {
    return await fn(isHeld);
  } finally {
    release();
  }
}

interface Held {
  release: () => void;
  /** False when somebody has passed this holder. */
  isHeld: () => boolean;
}

async function take(folder: string, waitMs: number, mayPass: (holder: Identity) => boolean): Promise<Held> {
  createFolder(folder);
  if (factsOf(folder)?.kind !== 'folder')
    throw new FaultError('state_unusable', `cannot use the lock ${folder}: it is no folder`);
  const own = ownIdentity();
  const ticket = path.join(
    folder,
    `.${own.pid}-${own.start_token.replace(/\W/g, '')}-${Math.random().toString(36).slice(2)}`,
  );
  writeFile(ticket, JSON.stringify(own), { sync: false });
  const until = monotonicMs() + waitMs;
  try {
    for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
      const number = tryTake(folder, ticket, mayPass);
      if (number !== undefined) {
        const held = path.join(folder, String(number));
        return { release: () => release(held), isHeld: () => highest(folder).number === number };
      }
      if (monotonicMs() >= until)
        throw new FaultError('busy', `cannot take the lock ${folder}: it is held by ${holderText(folder)}`);
      await sleep(pause);
    }
  } finally {
    removeFile(ticket);
  }
}

/** A holder that was taken for dead has nothing to give back. */
function release(held: string): void {
  try {
    renameSync(held, `${held}.free`);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function tryTake(folder: string, ticket: string, mayPass: (holder: Identity) => boolean): number | undefined {
  const top = highest(folder);
  const last = path.join(folder, String(top.number));
  if (top.number > 0 && !top.free && !isAbandoned(last) && !isPassed(last, mayPass)) return undefined;
  const number = top.number + 1;
  const file = path.join(folder, String(number));
  try {
    linkSync(ticket, file);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return undefined;
    throw error;
  }
  // Somebody came before us, or this number was taken and left already.
  const now = highest(folder);
  if (now.number !== number || now.free) {
    removeFile(file);
    return undefined;
  }
  for (const name of listNames(folder))
    if (numberOf(name) > 0 && numberOf(name) < number) removeFile(path.join(folder, name));
  return number;
}

function highest(folder: string): { number: number; free: boolean } {
  const names = listNames(folder);
  const number = Math.max(0, ...names.map(numberOf));
  return { number, free: number > 0 && names.includes(`${number}.free`) };
}

function numberOf(name: string): number {
  const match = /^(\d+)(?:\.free)?$/.exec(name);
  return match ? Number(match[1]) : 0;
}

/** Dead, damaged, or unseen from here and old: no holder keeps a lock for a minute. */
function isAbandoned(file: string): boolean {
  const read = readJson(file);
  if (read.kind === 'missing') return false;
  const liveness = read.kind === 'ok' && isIdentity(read.value) ? livenessOf(read.value) : 'unknown';
  if (liveness !== 'unknown') return liveness === 'dead';
  const facts = factsOf(file);
  return facts !== undefined && nowMs() - facts.modifiedMs > 3 * leaseStaleMs;
}

function isPassed(file: string, mayPass: (holder: Identity) => boolean): boolean {
  const holder = holderIn(file);
  return holder !== undefined && mayPass(holder);
}

/** Who holds it now. */
export function holderOf(folder: string): Identity | undefined {
  const { number, free } = highest(folder);
  return number > 0 && !free ? holderIn(path.join(folder, String(number))) : undefined;
}

function holderIn(file: string): Identity | undefined {
  const read = readJson(file);
  return read.kind === 'ok' && isIdentity(read.value) ? (read.value as Identity) : undefined;
}

function holderText(folder: string): string {
  const read = readJson(path.join(folder, String(highest(folder).number)));
  return read.kind === 'ok' ? `process ${String(read.value.pid)}` : 'another process';
}
