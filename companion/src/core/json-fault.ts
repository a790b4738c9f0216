// Where a text that a person wrote stops being JSON, in words: what was unexpected, line and column, and nothing else of the text.
import { messageOf } from './errors.ts';

/** `Expected ':' after property name (line 2, column 8)`; null when it is JSON. Lines and columns are counted from 1. */
export function jsonFault(text: string): string | null {
  const message = parseFault(text);
  if (message === null) return null;
  const [, told] = /at position (\d+)/.exec(message) ?? [];
  const at = told === undefined ? findEnd(text) : Number(told);
  const before = text.slice(0, at).split('\n');
  const [words] = message.split(/ in JSON at position|, "|, \.\.\./);
  return `${words} (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`;
}

function parseFault(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Some faults come without a place: the first character at which the text cannot be the beginning of JSON any more. */
function findEnd(text: string): number {
  let [fine, wrong] = [0, text.length + 1];
  while (wrong - fine > 1) {
    const middle = Math.floor((fine + wrong) / 2);
    if (parseFault(text.slice(0, middle))?.startsWith('Unexpected token')) wrong = middle;
    else fine = middle;
  }
  return fine;
}
