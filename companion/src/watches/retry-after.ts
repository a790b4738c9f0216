// `Retry-After`: whole seconds or a date (RFC 9110, 10.2.3), as ms from now. Nobody is kept away longer than an hour.
import { retryAfterMaxMs } from '../core/limits.ts';

/** null: not said, or not readable. */
export function retryAfterOf(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), retryAfterMaxMs);
}
