// `--notify CMD`, `--rerun CMD`: a JSON array of words, or one text that is split as a shell splits it. Program and arguments, never a shell
// line. Pure.
import { usageError } from './errors.ts';
import { splitWords } from './split-words.ts';

const allowed = 'allowed: words like a shell splits them, or a JSON array of texts';

export function parseNotify(text: string): string[] {
  return parseProgramWords(text, '--notify');
}

/** At least one word. Throws 'usage'. */
export function parseProgramWords(text: string, option: string): string[] {
  const refused = (why: string) => usageError(`cannot take ${option} ${JSON.stringify(text)}: ${why}; ${allowed}`);
  const words = text.trimStart().startsWith('[') ? jsonWords(text) : splitWords(text);
  if ('fault' in words) throw refused(words.fault);
  if (words.words.length === 0 || words.words[0] === '') throw refused('it names no program');
  return words.words;
}

function jsonWords(text: string): { words: string[] } | { fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'it is no JSON' };
  }
  const isWords = Array.isArray(value) && value.every((word) => typeof word === 'string' && !word.includes('\0'));
  return isWords ? { words: value as string[] } : { fault: 'it is no array of texts' };
}
