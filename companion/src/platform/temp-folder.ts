// A fresh folder of our own that lies in no git worktree, for something that must see nothing of anybody's project.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import { isFolder, realPath } from './folders.ts';
import { findWorktree } from './git-folder.ts';

/** Absolute, real, 0700. Throws `preflight` when every place for such folders lies in a repository. */
export function makeTempFolder(prefix: string): string {
  const places = [tmpdir(), '/tmp', '/var/tmp'].filter(isFolder).map(realPath);
  const place = places.find((folder) => findWorktree(folder) === undefined);
  if (place !== undefined) return mkdtempSync(path.join(place, prefix));
  throw new FaultError(
    'preflight',
    `cannot find a folder outside git for a trial: ${places.join(', ')}`,
    'set TMPDIR to one',
  );
}
