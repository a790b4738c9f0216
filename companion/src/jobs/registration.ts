// A call that waits writes down in waiters/ of each job that it does: who it is, whose, what wakes it and how long it stays. Best effort: what cannot be
// written is said once and tried again while it waits, and it waits all the same.
import path from 'node:path';
import { errnoOf } from '../core/errors.ts';
import { backstopMs, waiterRetryMs } from '../core/limits.ts';
import { isoNow, isoOf, monotonicMs, nowMs } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { readJson, removeFile, writeJson } from '../platform/files.ts';
import { exists, factsOf } from '../platform/folders.ts';
import { isIdentity, livenessOf, ownIdentity, parentIdentity } from '../platform/identity.ts';
import { jobPaths } from '../store/layout.ts';
import { sealOf } from './waiter-seal.ts';
import { namesIn, type WaitTerms } from './waiters.ts';

export interface Registering extends WaitTerms {
  /** Whose wait it is; else JOB_OWNER says so, or nobody. */
  owner?: string | null | undefined;
  tell?: (line: string) => void;
}

/** Register for the time that `fn` runs. */
export async function withRegistration<T>(
  root: string,
  ids: readonly string[],
  terms: Registering,
  fn: () => Promise<T>,
): Promise<T> {
  const note = noteOf(ids, terms);
  const sealed = { ...note, seal: sealOf(note) };
  const { pid, start_token } = note.waiter;
  const files = new Map(
    ids.map((id) => [id, path.join(jobPaths(root, id).waiters, `${pid}-${start_token.replace(/\W/g, '')}.json`)]),
  );
  const written: string[] = [];
  const writeAll = (): string | undefined => {
    let fault: string | undefined;
    for (const [id, file] of files) {
      const one = write(file, sealed);
      // Where the job itself is gone nothing is missing.
      if (one !== undefined && exists(jobPaths(root, id).folder)) {
        fault ??= one;
        continue;
      }
      files.delete(id);
      if (one === undefined) written.push(file);
    }
    return fault;
  };
  const fault = writeAll();
  if (fault !== undefined)
    terms.tell?.(`this wait is not recorded (${fault}): idle-check does not count it; it waits all the same`);
  const retry = fault === undefined ? undefined : setInterval(writeAll, waiterRetryMs);
  try {
    return await fn();
  } finally {
    clearInterval(retry);
    for (const file of written) {
      try {
        removeFile(file);
      } catch {
        // The folder is not ours to write any more.
      }
    }
  }
}

/** Why it could not be written; undefined when it was. */
function write(file: string, note: object): string | undefined {
  const folder = path.dirname(file);
  try {
    // Nothing is written through a link.
    if (factsOf(folder)?.kind !== 'folder') return 'waiters is no folder';
    try {
      removeDead(folder);
    } catch {
      // What others left is no reason to leave out ours.
    }
    writeJson(file, note, { sync: false });
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? 'error';
  }
}

function noteOf(ids: readonly string[], { kind, mode, until, timeoutMs, owner }: Registering) {
  const hasEnd = timeoutMs <= backstopMs;
  return {
    waiter: ownIdentity(),
    parent: parentIdentity() ?? null,
    owner: owner ?? variables.owner() ?? null,
    kind,
    ids,
    mode,
    until,
    since: isoNow(),
    timeout_ms: timeoutMs,
    ends_at: hasEnd ? isoOf(nowMs() + timeoutMs) : null,
    // The clock that the patience itself goes by: it stands still while the machine sleeps.
    ends_mono_ms: hasEnd ? monotonicMs() + timeoutMs : null,
  };
}

/** What killed waiters left. */
function removeDead(folder: string): void {
  for (const name of namesIn(folder).names) {
    const read = readJson(path.join(folder, name));
    if (read.kind !== 'ok' || !isIdentity(read.value.waiter) || livenessOf(read.value.waiter) !== 'dead') continue;
    removeFile(path.join(folder, name));
  }
}
