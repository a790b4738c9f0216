// Job ids: `<verb>-<base36 ms>-<random>`, so ids sort by time across verbs (`compareIds`). An id is a folder name, so
// nothing that does not look like one is ever taken for one.

const idPattern = /^[a-z]{2,12}-[0-9a-z]{8,9}-[0-9a-z]{6}$/;
const prefixPattern = /^[a-z]{2,12}(?:-[0-9a-z]{0,9}(?:-[0-9a-z]{0,6})?)?$/;

/** `random` is at least 6 bytes; the caller brings clock and randomness. */
export function makeId(verb: string, nowMs: number, random: Uint8Array): string {
  const digits = Array.from(random.subarray(0, 6), (byte) => (byte % 36).toString(36)).join('');
  return `${verb}-${nowMs.toString(36)}-${digits}`;
}

export function isId(text: string): boolean {
  return idPattern.test(text);
}

/** Could this be the beginning of an id? Anything with `/`, `..` or odd characters could not. */
export function isIdPrefix(text: string): boolean {
  return prefixPattern.test(text);
}

/** The instant of creation that the id holds, in ms since 1970. */
export function idTimeMs(id: string): number {
  return Number.parseInt(id.split('-')[1] ?? '', 36);
}

/** Oldest first. */
export function compareIds(a: string, b: string): number {
  return idTimeMs(a) - idTimeMs(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** As `compareIds` has it, for a thousand at once: texts that the engine compares by itself, with no function of ours for each pair. */
export function sortIds(ids: readonly string[]): string[] {
  const keys = ids.map((id) => {
    const from = id.indexOf('-') + 1;
    return `${id.slice(from, id.indexOf('-', from)).padStart(timeDigits, '0')} ${id}`;
  });
  return keys.sort().map((key) => key.slice(timeDigits + 1));
}

const timeDigits = 9;
