// Numbers of the watches that ask GitHub. Times in ms, sizes in bytes.
const second = 1000;
const minute = 60 * second;
const mib = 1024 * 1024;

/** One call of `gh`; the pauses before the second and the third try; what it may print (a long discussion is a lot of text). */
export const ghCallMs = 30 * second;
export const ghPausesMs = [250, 500] as const;
export const ghBytes = 16 * mib;
/** A rate limit whose end nobody said. */
export const ghLimitedMs = minute;
/** A later end than this is not believed. */
export const ghResetMs = 65 * minute;
/** How old an answer of GitHub may be that another watch fetched, as a part of the interval. */
export const ghFreshShare = 0.9;
export const ghRuns = 100;
export const ghPages = 20;
/** Green checks of which one began this lately are looked at once more, so long after: another app may not have begun yet. */
export const ghSettleMs = minute;
export const ghSettleAgainMs = 15 * second;
/** Of reviews and of comments; ids that a watch remembers; how far back of its first look an unknown one is still new. */
export const ghActivity = 50;
export const ghSeenIds = 300;
export const ghActivitySlackMs = 10 * minute;
/** Named in what is told; the rest is counted. */
export const ghNamedChecks = 8;
export const ghNamedActivity = 10;
