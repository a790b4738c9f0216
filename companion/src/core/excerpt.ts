// Bounded text: excerpts and tails that never exceed their bytes, never split a character and never hold a control
// sequence. Sizes are UTF-8 bytes.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// ECMA-48 in one pass: ESC with OSC, DCS, SOS, PM and APC strings (to their end, at most to the end of the line), with a CSI
// sequence, or with the short rest; and the one-character forms (strings only when their end is there: U+009D alone is mostly a
// quote that was encoded twice; another such beginning inside ends the search, or many of them
// would each be searched to the end).
const escapeSequence =
  /\x1b(?:[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)|[\x90\x98\x9d-\x9f][^\x07\x1b\x90\x98\x9c-\x9f\n]*(?:\x07|\x1b\\|\x9c)|\x9b[0-?]*[ -/]*[@-~]?/g;

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Text without terminal control: escape sequences and control characters go, tab and newline stay. */
export function plainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(escapeSequence, '')
    .replaceAll('\r', '\n')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '');
}

/** The beginning of a text in at most `limit` bytes, with an ellipsis when something is missing. */
export function excerpt(text: string, limit: number): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= limit) return text;
  if (limit < 3) return '';
  let end = limit - 3;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return `${decoder.decode(bytes.subarray(0, end))}…`;
}

/** The end of a text in at most `limit` bytes, cut at a character. */
export function tail(text: string, limit: number): { text: string; truncated: boolean } {
  const bytes = encoder.encode(text);
  if (bytes.length <= limit) return { text, truncated: false };
  return { text: decoder.decode(tailOfBytes(bytes, limit)), truncated: true };
}

/** The last bytes of a buffer, at most `limit`, not beginning inside a character. */
export function tailOfBytes(bytes: Uint8Array, limit: number): Uint8Array {
  const start = Math.max(0, bytes.length - limit);
  let skip = 0;
  // A character has at most three bytes after its first; more of them is no UTF-8, and stays.
  while (start > 0 && skip < 4 && isContinuation(bytes[start + skip])) skip += 1;
  return bytes.subarray(start + (skip < 4 ? skip : 0));
}

/** The last lines of a buffer (a final newline closes the last line; it does not open another). */
export function lastLines(bytes: Uint8Array, count: number): Uint8Array {
  let seen = 0;
  for (let at = bytes.length - 2; at >= 0; at -= 1) {
    if (bytes[at] !== 10) continue;
    seen += 1;
    if (seen === count) return bytes.subarray(at + 1);
  }
  return bytes;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Any JSON value with every text in it plain and at most `limit` bytes. */
export function plainValue(value: unknown, limit: number): unknown {
  if (typeof value === 'string') return excerpt(plainText(value), limit);
  if (Array.isArray(value)) return value.map((inner) => plainValue(inner, limit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [plainValue(name, 80), plainValue(inner, limit)]),
  );
}
