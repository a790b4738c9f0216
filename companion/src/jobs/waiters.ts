// waiters/: who waits for a job, with identity and bound. A waiter that died is none, whatever its file says. Best effort.
import path from 'node:path';
import { isoNow } from '../platform/clock.ts';
import { readJson, removeFile, writeJson } from '../platform/files.ts';
import { factsOf, listNames } from '../platform/folders.ts';
import { isIdentity, livenessOf, ownIdentity } from '../platform/identity.ts';
import { jobPaths } from '../store/layout.ts';

/** Register for the time that `fn` runs. */
export async function withRegistration<T>(
  root: string,
  ids: readonly string[],
  timeoutMs: number,
  fn: () => Promise<T>,
): Promise<T> {
  const files: string[] = [];
  const waiter = ownIdentity();
  for (const id of ids) {
    const file = path.join(jobPaths(root, id).waiters, `${waiter.pid}-${waiter.start_token.replace(/\W/g, '')}.json`);
    try {
      // Nothing is written through a link.
      if (factsOf(jobPaths(root, id).waiters)?.kind !== 'folder') continue;
      writeJson(file, { waiter, ids, since: isoNow(), timeout_ms: timeoutMs }, { sync: false });
      files.push(file);
    } catch {
      // The folder is not ours to write from here: we wait all the same.
    }
  }
  try {
    return await fn();
  } finally {
    for (const file of files) {
      try {
        removeFile(file);
      } catch {
        // As above.
      }
    }
  }
}

/** Is a living process waiting for this job? One that cannot be seen from here counts. */
export function isAwaited(root: string, id: string): boolean {
  const folder = jobPaths(root, id).waiters;
  return listNames(folder).some((name) => {
    const read = readJson(path.join(folder, name));
    return read.kind === 'ok' && isIdentity(read.value.waiter) && livenessOf(read.value.waiter) !== 'dead';
  });
}
