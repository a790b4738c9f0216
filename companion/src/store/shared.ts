// Answers that several watches of one state folder share, so that twenty watches of one pull request ask GitHub once:
// `shared/<hash>.json`, written by the one that asked, under a lock of its own. The folder lies where an agent may write, and an answer
// decides whether a watch is `met`, so each carries a MAC made with the user's key over the question, the instant and the answer: a forged,
// an older or another question's answer is none. Sharing only saves: whatever goes wrong with it, the caller asks by itself.
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import { sharedBytes, sharedHoldMs, sharedKeepMs, sharedLookMs } from '../core/limits.ts';
import { monotonicMs, nowMs, sleep } from '../platform/clock.ts';
import { createFolder, readText, removeFile, writeJson } from '../platform/files.ts';
import { factsOf, listNames, removeTree } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { rootPaths } from './layout.ts';
import { hashOf, macOfAnswer, readKey, sameMac } from './mac.ts';

export interface Question<T> {
  /** The state folder. */
  root: string;
  /** What is asked: the same text, the same answer. */
  key: string;
  /** An older answer is none. */
  maxAgeMs: number;
  /** So long a living other may take to answer; then 'busy' is thrown. */
  waitMs: number;
  signal?: AbortSignal;
  ask(): Promise<T>;
}

interface Stored {
  key: string;
  at: number;
  /** How long it stands, whatever its reader allows; null: that is the reader's. */
  hold: number | null;
  value: unknown;
  mac: string;
}

export async function shareAnswer<T extends { holdMs?: number }>(question: Question<T>): Promise<T> {
  const userKey = usableKey(question.root);
  if (userKey === undefined) return question.ask();
  const file = path.join(rootPaths(question.root).shared, `${hashOf(question.key).slice(0, 40)}.json`);
  const began = nowMs();
  const until = monotonicMs() + question.waitMs;
  for (let pause: number = sharedLookMs[0]; ; pause = Math.min(pause * 2, sharedLookMs[1])) {
    const known = await readAnswer<T>(file, question, userKey, began);
    if (known) return known;
    let isOurs = false;
    try {
      return await withLock(
        file.replace(/json$/, 'lock'),
        async () => {
          isOurs = true;
          return (await readAnswer<T>(file, question, userKey, began)) ?? (await askAndKeep(file, question, userKey));
        },
        0,
      );
    } catch (error) {
      if (isOurs) throw error;
      // A lock that cannot be used at all saves nothing.
      if (!(error instanceof FaultError) || error.code !== 'busy') return question.ask();
      if (question.signal?.aborted || monotonicMs() + pause > until) throw error;
    }
    await sleep(pause);
  }
}

/** Undefined: nothing can be shared here. */
function usableKey(root: string): string | undefined {
  try {
    const folder = rootPaths(root).shared;
    createFolder(folder);
    const facts = factsOf(folder);
    const isOurs = facts?.kind === 'folder' && facts.uid === process.getuid?.() && (facts.mode & 0o022) === 0;
    return isOurs ? readKey() : undefined;
  } catch {
    return undefined;
  }
}

async function readAnswer<T>(
  file: string,
  question: Question<T>,
  userKey: string,
  began: number,
): Promise<T | undefined> {
  const stored = parse(file);
  if (!stored || stored.key !== question.key) return undefined;
  const age = nowMs() - stored.at;
  const isYoung = age < Math.min(stored.hold ?? question.maxAgeMs, sharedHoldMs);
  // What was asked after we came is as good as our own question: of twenty that come at once, at most two ask.
  if (age < 0 || !(isYoung || stored.at >= began)) return undefined;
  const { mac, ...rest } = stored;
  return sameMac(await macOfAnswer(rest, userKey), mac) ? (stored.value as T) : undefined;
}

function parse(file: string): Stored | undefined {
  try {
    const { key, at, hold, value, mac } = JSON.parse(readText(file, 2 * sharedBytes) ?? 'null') as Stored;
    const isWhole = typeof at === 'number' && (hold === null || typeof hold === 'number') && typeof mac === 'string';
    return isWhole ? { key, at, hold, value, mac } : undefined;
  } catch {
    return undefined;
  }
}

async function askAndKeep<T extends { holdMs?: number }>(file: string, question: Question<T>, key: string): Promise<T> {
  const at = nowMs();
  const value = await question.ask();
  try {
    // The age counts from the question: an answer is as old as what it saw may be. What its asker limits counts from now.
    const answer =
      value.holdMs === undefined
        ? { key: question.key, at, hold: null, value }
        : { key: question.key, at: nowMs(), hold: value.holdMs, value };
    const text = JSON.stringify(value);
    if (text.length > sharedBytes || value.holdMs === 0) removeFile(file);
    else writeJson(file, { ...answer, mac: await macOfAnswer(answer, key) }, { sync: false });
    removeOld(path.dirname(file));
  } catch {
    // A full disk: then others ask by themselves.
  }
  return value;
}

function removeOld(folder: string): void {
  for (const name of listNames(folder)) {
    const target = path.join(folder, name);
    const facts = factsOf(target);
    if (!/^[0-9a-f]{40}\.(json|lock)$/.test(name) || !facts || nowMs() - facts.modifiedMs < sharedKeepMs) continue;
    removeTree(target);
  }
}
