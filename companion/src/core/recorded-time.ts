// Instants as records hold them. `Date.parse` takes "foo 1" for a day in 2001, and what it cannot read becomes an age of NaN; here
// only a whole ISO instant with its zone is one.

const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})$/;

/** ms since 1970; null for what is no instant. */
export function instantOf(value: unknown): number | null {
  if (typeof value !== 'string' || !form.test(value)) return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? null : ms;
}

/** How long ago it was, never negative; null for what is no instant. */
export function ageOf(value: unknown, now: number): number | null {
  const at = instantOf(value);
  return at === null ? null : Math.max(0, now - at);
}
