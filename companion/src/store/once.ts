// Once-keys: `once/<hash of the key>` says which job has a key. Created exclusively, never changed, never removed: a key
// outlives its job and `clean`.
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import type { Identity } from '../core/job.ts';
import { createFile, readJson } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import { rootPaths } from './layout.ts';
import { hashOf } from './mac.ts';

export interface OnceClaim {
  id: string;
  /** Digest of what was asked for. */
  asked: string;
  /** Digest of the very words of the call (absent in older keys). */
  words?: string;
  launcher: Identity;
}

/** Has a job this key already? */
export function isClaimed(root: string, key: string): boolean {
  return exists(fileOf(root, key));
}

function fileOf(root: string, key: string): string {
  return path.join(rootPaths(root).once, hashOf(key).slice(0, 40));
}

/** Claim a key for a job, or learn whose it is. Twenty claimers at once: one is told that it is theirs. */
export function claimOnce(root: string, key: string, claim: OnceClaim): { isOurs: boolean; holder: OnceClaim } {
  const file = fileOf(root, key);
  if (createFile(file, `${JSON.stringify(claim)}\n`)) return { isOurs: true, holder: claim };
  return { isOurs: false, holder: requireClaim(file) };
}

/** Whose the key is; undefined when it is nobody's. */
export function readClaim(root: string, key: string): OnceClaim | undefined {
  return isClaimed(root, key) ? requireClaim(fileOf(root, key)) : undefined;
}

function requireClaim(file: string): OnceClaim {
  const read = readJson(file);
  const holder = read.kind === 'ok' ? (read.value as unknown as OnceClaim) : undefined;
  if (typeof holder?.id !== 'string' || typeof holder.asked !== 'string') {
    throw new FaultError(
      'state_unusable',
      `cannot read the once-key file ${file}: it is damaged`,
      'remove that file if you are sure that the job never ran',
    );
  }
  return holder;
}
