// looks/<hash of the owner>.json: where the last few `reconcile`s of an owner stood, so that the next one knows what is new. A number that a look gave
// out stays good: it is an instant (ms since 1970) before which everything was told, and beside it stands what was told after it. Best
// effort: a folder that cannot be written costs nothing but this. The folder lies where an agent may write, and a number from here decides what is
// not told again: the file carries a MAC made with the user's key, and one without it is none.
import path from 'node:path';
import { isId } from '../core/ids.ts';
import { lookKeys, looksKept } from '../core/limits.ts';
import { monotonicMs, nowMs } from '../platform/clock.ts';
import { createFolder, readJson, writeJson } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import { bootId } from '../platform/identity.ts';
import { rootPaths } from '../store/layout.ts';
import { hashOf, macOfAnswer, readKey, sameMac } from '../store/mac.ts';

export interface Look {
  /** Everything up to this instant was told. */
  seq: number;
  /** When it was, on both clocks: only the wall clock can be set. */
  at_ms: number;
  mono_ms: number;
  boot_id: string;
  /** What was told although it is later than `seq`. */
  told: string[];
}

/** Oldest first; what has another form, or another's seal, is none. */
export async function readLooks(root: string, owner: string | null): Promise<Look[]> {
  const read = readJson(fileOf(root, owner));
  const key = knownKey();
  if (read.kind !== 'ok' || key === undefined) return [];
  const { looks, mac } = read.value;
  if (!Array.isArray(looks) || typeof mac !== 'string' || !looks.every(isLook)) return [];
  return sameMac(await macOfAnswer({ what: 'looks', owner, looks }, key), mac) ? looks : [];
}

/** False when it could not be written. */
export async function noteLook(
  root: string,
  owner: string | null,
  { seq, told }: Pick<Look, 'seq' | 'told'>,
): Promise<boolean> {
  const key = knownKey();
  if (key === undefined) return false;
  try {
    const folder = rootPaths(root).looks;
    createFolder(folder);
    // Nothing is written through a link.
    const facts = factsOf(folder);
    if (facts?.kind !== 'folder' || facts.uid !== process.getuid?.()) return false;
    const others = (await readLooks(root, owner)).filter((one) => one.seq !== seq);
    const now: Look = {
      seq,
      at_ms: nowMs(),
      mono_ms: monotonicMs(),
      boot_id: bootId(),
      told: told.slice(-lookKeys),
    };
    const looks = [...others, now].slice(-looksKept);
    writeJson(
      fileOf(root, owner),
      { owner, looks, mac: await macOfAnswer({ what: 'looks', owner, looks }, key) },
      { sync: false },
    );
    return true;
  } catch {
    return false;
  }
}

/** None before the first launch, and none that we may not read. */
function knownKey(): string | undefined {
  try {
    return readKey();
  } catch {
    return undefined;
  }
}

/** By so much the wall clock was set back since that look; 0 when it was not, or when nobody can know. */
export function setBackMs(look: Look): number {
  if (look.boot_id !== bootId()) return 0;
  const drift = nowMs() - monotonicMs() - (look.at_ms - look.mono_ms);
  return drift < -driftMs ? Math.round(-drift) : 0;
}

/** Clocks that are kept in step move by less. */
const driftMs = 1000;

/** The caller's own text never becomes a file name. */
function fileOf(root: string, owner: string | null): string {
  return path.join(rootPaths(root).looks, `${hashOf(JSON.stringify(owner)).slice(0, 40)}.json`);
}

function isLook(value: unknown): value is Look {
  if (typeof value !== 'object' || value === null) return false;
  const { seq, at_ms, mono_ms, boot_id, told } = value as Record<string, unknown>;
  const numbers = [seq, at_ms, mono_ms];
  if (!numbers.every((one) => Number.isSafeInteger(one) && (one as number) >= 0)) return false;
  return typeof boot_id === 'string' && Array.isArray(told) && told.every(isKey);
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && value.length < 80 && isId(value.split(':')[0] ?? '');
}
