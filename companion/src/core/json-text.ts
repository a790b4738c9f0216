// JSON that a person or another program wrote, written again: would anything but the space between its parts become another, and in which
// form was it. Pure.

/** The line (from 1) of the first thing that reading and writing changes: a number, a doubled key, an escape; null when there is none. */
export function findLoss(text: string): number | null {
  if (text.trim() === '') return null;
  const written = JSON.stringify(JSON.parse(text));
  let at = 0;
  let isInString = false;
  for (let read = 0; read < text.length; read += 1) {
    const sign = text[read] as string;
    if (!isInString && ' \t\r\n'.includes(sign)) continue;
    if (sign !== written[at]) return lineOf(text, read);
    at += 1;
    if (sign === '"') isInString = !isInString;
    if (sign !== '\\') continue;
    // What follows a backslash ends no string.
    read += 1;
    if (text[read] !== written[at]) return lineOf(text, read);
    at += 1;
  }
  return null;
}

/** With the indentation, the ends of lines and the end of the old text, as far as these can be told. */
export function printLike(value: unknown, old: string | null): string {
  if (old === null || old.trim() === '' || old.trim() === '{}') return `${JSON.stringify(value, null, 2)}\n`;
  const isOneLine = !old.trim().includes('\n');
  const indent = isOneLine ? 0 : (/^\s*\{\s*?\n([ \t]+)"/.exec(old)?.[1] ?? 2);
  const text = `${JSON.stringify(value, null, indent)}${old.endsWith('\n') ? '\n' : ''}`;
  return /^[^\n]*\r\n/.test(old) ? text.replaceAll('\n', '\r\n') : text;
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
