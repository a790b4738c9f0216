// Was somebody told already? The claim of a notice lies where the job itself may write, so that only one counts that was made with the user's
// key over the job, the notice and a word of whoever made it. Anything else in its place would silence the notifier: it is moved aside.
// A job of an older release, which had no such seal, has folders as claims.
import type { Spec } from '../core/job.ts';
import { createFolder, moveAside, readText } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import type { JobPaths } from '../store/layout.ts';
import { macOfShort, readKey, sameMac } from '../store/mac.ts';

interface Job {
  paths: JobPaths;
  spec: Spec;
}

/** `odd`: something that is no claim. */
export type ClaimSeen = 'none' | 'told' | 'odd';

const claimBytes = 200;

export function claimSeen({ paths, spec }: Job, name: string): ClaimSeen {
  const folder = factsOf(paths.notices);
  if (!folder) return 'none';
  // Through a link nothing is looked at.
  if (folder.kind !== 'folder') return 'odd';
  const file = claimPath(paths, name);
  switch (factsOf(file)?.kind) {
    case undefined:
      return 'none';
    case 'folder':
      return spec.sealed_notices ? 'odd' : 'told';
    case 'file':
      return isSealed(spec, name, file) ? 'told' : 'odd';
    default:
      return 'odd';
  }
}

/** The whole content of a claim by whoever has this word; undefined without a key. */
export function claimText({ spec }: Job, name: string, word: string): string | undefined {
  const seal = sealOf(spec, name, word);
  return seal === undefined ? undefined : `${word} ${seal}\n`;
}

export function claimPath(paths: JobPaths, name: string): string {
  return `${paths.notices}/${name}`;
}

/** A folder of our own, with nothing in the place of this claim that is none. Throws when that cannot be had. */
export function makeRoom(job: Job, name: string): void {
  const { paths } = job;
  const folder = factsOf(paths.notices);
  if (folder && folder.kind !== 'folder') moveAside(paths.notices);
  createFolder(paths.notices);
  if (claimSeen(job, name) === 'odd') moveAside(claimPath(paths, name));
}

function isSealed(spec: Spec, name: string, file: string): boolean {
  const [word = '', seal = ''] = (readText(file, claimBytes) ?? '').trim().split(' ');
  const expected = sealOf(spec, name, word);
  // Who cannot read the key cannot tell, and tells nobody.
  return expected === undefined || sameMac(expected, seal);
}

function sealOf({ id }: Spec, name: string, word: string): string | undefined {
  try {
    const key = readKey();
    return key === undefined ? undefined : macOfShort({ what: 'notice', id, name, word }, key);
  } catch {
    return undefined;
  }
}
