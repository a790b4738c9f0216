// Names of files are bytes. As text they keep every one of them: what is no UTF-8 becomes a lone surrogate (U+DC80 to U+DCFF for
// the byte 80 to FF), which JSON carries as an escape and which turns back into the same byte. Shown to somebody, they are escaped.

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export function decodeName(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    return decodeBroken(bytes);
  }
}

export function encodeName(name: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(name)) return encoder.encode(name);
  const parts = name.match(loneOrText) ?? [];
  const pieces = parts.map((part) => {
    const code = part.charCodeAt(0);
    return part.length === 1 && code >= 0xdc80 && code <= 0xdcff ? Uint8Array.of(code - 0xdc00) : encoder.encode(part);
  });
  const result = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    result.set(piece, at);
    at += piece.length;
  }
  return result;
}

/** A lone byte, or text up to the next one (a surrogate pair is text). */
const loneOrText = /(?<![\ud800-\udbff])[\udc80-\udcff]|(?:[\ud800-\udbff][\udc00-\udfff]|[^\udc80-\udcff])+/g;

/** A name that can stand in JSON of any reader: bytes that are no text as `\xNN`, everything else as it is. */
export function readableName(name: string): string {
  return name.replace(loneOrText, (part) => {
    const code = part.charCodeAt(0);
    return part.length === 1 && code >= 0xdc80 && code <= 0xdcff ? `\\x${(code - 0xdc00).toString(16)}` : part;
  });
}

/** Control, format and separator characters (with the invisible and the direction-changing ones), quotes, and lone surrogates. */
const odd = /["`\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|^\s|\s$|^$/u;
const unprintable = /["\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** One line of plain text for a person: odd names stand in quotes, with what cannot be shown escaped. */
export function showName(name: string): string {
  if (!odd.test(name)) return name;
  const inner = name.replaceAll('\\', '\\\\').replace(unprintable, (found) => {
    const code = found.codePointAt(0) ?? 0;
    if (found === '"') return '\\"';
    if (found === '\n') return '\\n';
    if (found === '\t') return '\\t';
    if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
    return `\\u{${code.toString(16)}}`;
  });
  return `"${inner}"`;
}

/** Valid stretches stay text; every byte that belongs to none stands for itself. */
function decodeBroken(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterAt(bytes, at);
    if (length === 0) text += String.fromCharCode(0xdc00 + (bytes[at] ?? 0));
    else text += decoder.decode(bytes.subarray(at, at + length));
    at += length || 1;
  }
  return text;
}

/** Bytes of the character that begins here, 0 when there is none. */
function characterAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    decoder.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

/** Words of others (subjects, reasons) on one line, without control, format and separator characters. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim();
}
