// What the kinds that look at this machine share: how a look is put together, and what the system's refusals mean.
import { errnoOf, FaultError, messageOf } from '../core/errors.ts';
import { formatSize } from '../core/size.ts';
import { type TargetFacts, targetOf } from '../platform/folders.ts';
import type { Cursor, Fault, Look, Trouble } from './watch.ts';

/** A look whose word is its key: told again only when the word changes. */
export function seen(
  verdict: Look['verdict'],
  word: string,
  evidence: string,
  more: { facts?: Record<string, unknown>; cursor?: Cursor; againMs?: number; key?: string } = {},
): Look {
  const { facts = {}, cursor = {}, key = word, ...rest } = more;
  return { kind: 'look', verdict, word, evidence, key, facts, cursor, ...rest };
}

/** The path as it is at the launch; refused when it can never be looked at. */
export function requireReachable(target: string): TargetFacts | undefined {
  try {
    return targetOf(target);
  } catch (error) {
    const shown = JSON.stringify(target.length > 200 ? `${target.slice(0, 200)}...` : target);
    throw new FaultError(
      'preflight',
      `cannot watch ${shown}: it cannot be looked at (${errnoOf(error) ?? messageOf(error)})`,
    );
  }
}

/** Nothing that a later look could do better ends the watch; everything else is tried again. */
export function unreachable(target: string, error: unknown): Trouble | Fault {
  const code = errnoOf(error) ?? 'error';
  if (['EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'].includes(code))
    return { kind: 'fault', cause: 'refused', message: `cannot look at ${target} (${code})` };
  const message = `cannot look at ${target}: ${messageOf(error)}`;
  return { kind: 'trouble', cause: 'failed', message, retryAfterMs: null };
}

export function sizeFacts(facts: TargetFacts | undefined): Record<string, unknown> {
  return facts ? { bytes: facts.size } : {};
}

/** What a file is at one moment, as far as that can be seen without reading it. */
export function signOf(facts: TargetFacts | undefined): string {
  return facts ? `${facts.inode}-${facts.size}-${facts.modifiedMs}` : 'missing';
}

export function sizeText(facts: TargetFacts | undefined): string {
  return facts ? formatSize(facts.size) : 'not there';
}
