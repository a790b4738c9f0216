// turn.json: the turn of a job that was queued (`--max-live`), written once by its worker under the queue's lock. The file lies where an
// agent may write, so it counts only with a MAC made with the user's key over the job and its turn; a forged or another job's turn is none.
import type { Spec, Turn } from '../core/job.ts';
import { readJson, writeJson } from '../platform/files.ts';
import type { JobPaths } from './layout.ts';
import { macOfShort, readKey, sameMac } from './mac.ts';

/** Does a job of this spec wait for its turn? A timer takes nobody's place: it is armed at once. */
export function hasQueue(spec: Pick<Spec, 'max_live' | 'kind'>): boolean {
  return typeof spec.max_live === 'number' && spec.max_live > 0 && spec.kind !== 'timer';
}

/** Found genuine before: a turn never changes, and whoever waits asks for it again and again. */
const genuine = new Map<string, Turn>();

export function readTurn(paths: JobPaths, id: string): Turn | undefined {
  const read = readJson(paths.turn);
  if (read.kind !== 'ok') return undefined;
  const { mac, ...turn } = read.value as unknown as Turn & { mac: unknown };
  if (typeof mac !== 'string' || !isTurn(turn)) return undefined;
  const name = `${id} ${mac} ${JSON.stringify(turn)}`;
  const known = genuine.get(name);
  if (known) return known;
  const key = usableKey();
  if (key === undefined || !sameMac(macOf(id, turn, key), mac)) return undefined;
  genuine.set(name, turn);
  return turn;
}

/** On the disk before anything is started. */
export function writeTurn(paths: JobPaths, id: string, turn: Turn): void {
  const key = readKey();
  if (key === undefined) throw new Error(`cannot take the turn of job ${id}: there is no key`);
  writeJson(paths.turn, { ...turn, mac: macOf(id, turn, key) });
}

function macOf(id: string, turn: Turn, key: string): string {
  return macOfShort({ what: 'turn', id, turn: JSON.stringify(turn) }, key);
}

function isTurn({ at, boot_id, mono_ms, files }: Turn): boolean {
  const isInstant = typeof at === 'string' && Number.isFinite(Date.parse(at));
  const isWhole = typeof boot_id === 'string' && Number.isFinite(mono_ms);
  return isInstant && isWhole && typeof files === 'object' && files !== null;
}

function usableKey(): string | undefined {
  try {
    return readKey();
  } catch {
    return undefined;
  }
}
