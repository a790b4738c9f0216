// Whether a file is finished (nothing writes to it any more), and whether it has a certain content.
import { formatDuration } from '../core/duration.ts';
import { sleep } from '../platform/clock.ts';
import { readRange } from '../platform/files.ts';
import { realPath, type TargetFacts } from '../platform/folders.ts';
import { seen, signOf, sizeFacts, sizeText, unreachable } from './local.ts';
import type { Cursor, Fault, Look, Tools, Trouble } from './watch.ts';

const chunkBytes = 1024 * 1024;

/** Seen to be the same for the whole time; who looks once has only the file's own time to go by. */
export function lookForStable(target: string, ms: number, facts: TargetFacts, tools: Tools, cursor: Cursor): Look {
  const now = tools.nowMs();
  const sign = signOf(facts);
  const isSame = cursor.sign === sign && typeof cursor.since === 'number' && cursor.since <= now;
  const since = tools.everyMs === undefined ? facts.modifiedMs : isSame ? Number(cursor.since) : now;
  const more = { facts: sizeFacts(facts), cursor: { sign, since } };
  const rest = since + ms - now;
  if (rest > 0) {
    const evidence = `${target} (${sizeText(facts)}) must stay as it is for ${formatDuration(ms)}`;
    return seen('pending', 'settling', evidence, { ...more, againMs: rest });
  }
  return seen('met', 'stable', `${target} (${sizeText(facts)}) has not changed for ${formatDuration(ms)}`, more);
}

/** A file that has not changed is not read again. */
export async function lookForDigest(
  target: string,
  digest: string,
  facts: TargetFacts,
  tools: Tools,
  cursor: Cursor,
): Promise<Look | Trouble | Fault> {
  if (facts.kind !== 'file')
    return { kind: 'fault', cause: 'refused', message: `cannot read ${target}: it is no regular file` };
  try {
    const sign = signOf(facts);
    const isKnown = cursor.sign === sign && typeof cursor.digest === 'string';
    const is = isKnown ? String(cursor.digest) : await digestOf(realPath(target), tools);
    const more = { facts: { ...sizeFacts(facts), sha256: is }, cursor: { sign, digest: is } };
    if (is === digest) return seen('met', 'same', `${target} has the digest ${is}`, more);
    return seen('pending', 'other', `${target} has the digest ${is}`, more);
  } catch (error) {
    return unreachable(target, error);
  }
}

async function digestOf(file: string, tools: Tools): Promise<string> {
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256');
  for (let offset = 0; !tools.signal.aborted; ) {
    const part = readRange(file, offset, chunkBytes);
    if (!part || part.bytes.length === 0) break;
    hash.update(part.bytes);
    offset += part.bytes.length;
    // Whoever wants to end us gets a turn.
    await sleep(0);
  }
  return hash.digest('hex');
}
