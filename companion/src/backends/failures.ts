// What the failures of all CLIs have in common: HTTP statuses, the words of the large providers for a used-up quota or a refused
// key, and the instant at which a quota comes back. Sorts into kinds only; the words themselves are told unchanged.
import { excerpt } from '../core/excerpt.ts';
import type { JobErrorCode } from '../core/job.ts';
import { isoOf } from '../platform/clock.ts';

/** What is looked at of a message: what an agent tells may be of any length, and patterns run over it. */
const wordsBytes = 2048;

const kinds: [JobErrorCode, RegExp][] = [
  [
    'quota',
    /usage limit|quota exceeded|exceeded your (?:current )?quota|quota (?:is )?(?:exhausted|reached)|insufficient_quota|out of credits|credit balance is too low|spend cap|rate limit (?:reached|exceeded)|rate_limit_e|resource_exhausted|\b429 too many requests|(?:status|code|error):? 429\b/i,
  ],
  [
    'auth',
    /\b401 unauthorized|(?:status|code|error):? 401\b|unauthenticated|(?:invalid|incorrect) (?:api|x-api).?key|invalid bearer token|not logged in|sign in again|login is required|missing environment variable|\bno api key\b/i,
  ],
];

/** The kind of a failure told in words; `own` patterns of a backend come first. */
export function kindOfWords(message: string, own: readonly [JobErrorCode, RegExp][] = []): JobErrorCode {
  const words = excerpt(message, wordsBytes);
  return [...own, ...kinds].find(([, pattern]) => pattern.test(words))?.[0] ?? 'agent_error';
}

/** The kind of an HTTP status of a model's server; null when it says nothing special. */
export function kindOfStatus(status: number): JobErrorCode | null {
  if (status === 401) return 'auth';
  return status === 429 ? 'quota' : null;
}

/** When a quota comes back, in the provider's own words: an instant or "in 3h5m". An error told as JSON may hold epoch seconds. */
export function resetOf(message: string): string | undefined {
  const words = excerpt(message, wordsBytes);
  const seconds = /"resets_at":\s*(\d{10})\b/.exec(words)?.[1];
  if (seconds !== undefined) return isoOf(Number(seconds) * 1000);
  const text = words.trim().replace(/\b(resets?|retry) after (?=\d)/i, '$1 in ');
  const found =
    /try again (at (.+?)|in ~?\d.*?)\.?$/i.exec(text) ??
    /\b(?:resets?|retry) (in \d[\dhms. ]*[hms])/i.exec(text) ??
    /\bresets? (at (.+?))(?:[.,;)]|$)/i.exec(text);
  return found ? (found[2] ?? found[1]) : undefined;
}
