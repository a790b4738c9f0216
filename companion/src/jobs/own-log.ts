// The end of the log that a command keeps itself (`--log`), read once when the end is published: what explains a failure better than stdout.
import { errnoOf } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { pathLookMs } from '../core/limits.ts';
import { lookBehindSoon } from '../platform/file-facts.ts';
import { realPath } from '../platform/folders.ts';
import { oneLine, plainTail } from './run-report.ts';

export interface OwnLog {
  path: string;
  tail: string;
  /** Why the tail is not what was hoped for. */
  note: string | null;
}

/** Never throws and never waits long. */
export async function readOwnLog(spec: Spec, path: string): Promise<OwnLog> {
  const nothing = (note: string): OwnLog => ({ path, tail: '', note });
  const look = await lookBehindSoon(path, pathLookMs);
  if ('trouble' in look) return nothing(`it cannot be read (${look.trouble})`);
  if (!look.found) return nothing('it is missing');
  if (look.found.kind !== 'file') return nothing('it is no regular file');
  try {
    const tail = plainTail(realPath(path));
    if (tail === '') return nothing('it is empty');
    const isOld = look.found.modifiedMs < Date.parse(spec.created_at);
    return { path, tail, note: isOld ? 'not written since the launch' : null };
  } catch (error) {
    return nothing(`it cannot be read (${errnoOf(error) ?? 'error'})`);
  }
}

/** `isWhole`: it says what stdout would say. */
export function ownLogSection({ path, tail, note }: OwnLog): { text: string; isWhole: boolean } {
  const name = oneLine(path);
  if (tail === '') return { text: `The log ${name} tells nothing: ${note}.`, isWhole: false };
  return { text: `## Last lines of ${name}${note === null ? '' : ` (${note})`}\n\n${tail}`, isWhole: note === null };
}
