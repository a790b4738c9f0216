// What a kind of watch brings from outside, made plain and short before it is stored or shown.
import { oneLine } from '../core/byte-names.ts';
import { plainText, plainValue } from '../core/excerpt.ts';
import { evidenceChars, excerptBytes, watchFactsBytes } from '../core/limits.ts';
import type { WatchNote } from '../core/waiting.ts';

/** One line of at most 200 characters. */
export function line(text: string): string {
  const characters = [...oneLine(plainText(text.slice(0, 16 * evidenceChars)))];
  return characters.length <= evidenceChars
    ? characters.join('')
    : `${characters.slice(0, evidenceChars - 1).join('')}\u2026`;
}

/** Facts for programs: texts short, the whole bounded. */
export function smallFacts(facts: Record<string, unknown>): Record<string, unknown> {
  const plain = plainValue(facts, excerptBytes) as Record<string, unknown>;
  return JSON.stringify(plain).length <= watchFactsBytes ? plain : { truncated: true };
}

/** Of a watch that was to tell every change until its bound. */
export function toEndText({ changes = 0 }: WatchNote, last: string): string {
  const told = changes === 0 ? 'nothing changed' : `${changes} change${changes === 1 ? '' : 's'} told`;
  return `it was watched to its end as asked, ${told}; the last: ${last}`;
}
