// The numbers of a loop (features S3, formats 2.4).

export const loopLimits = {
  /** Of one text in the state, characters. */
  textChars: 4000,
  milestones: 500,
  /** Of state.json, bytes. */
  stateBytes: 1024 * 1024,
  /** Time of one verify command, seconds. */
  verifySeconds: { default: 1800, min: 1, max: 7200 },
  /** A verify command that prints more is ended, bytes of each stream. */
  verifyBytes: 32 * 1024 * 1024,
  /** One look of git at the tree; the add and the commit of a checkpoint (killed in the middle they would leave their lock), ms. */
  lookMs: 60_000,
  commitMs: 600_000,
  /** Patience for the loop's lock, which is held while a checkpoint is committed, ms. */
  lockMs: 60_000,
  /** A `cmd:` stop condition, ms. */
  conditionMs: 30_000,
  /** NO-GO answers of one iteration that are mended; the next one stops (S3.15). */
  remediationRounds: 2,
  /** The same failure in so many iterations running stops (S3.23). */
  sameFailures: 3,
  /** `loop resume`: entries of the journal, and lines of the whole page (S3.31, S3.33). */
  resumeEntries: 3,
  resumeLines: 200,
  /** `loop pace`, seconds (S3.16 to S3.20, S3.49). */
  pace: {
    least: 60,
    most: 1800,
    external: [60, 270],
    minutes5: 270,
    long: [1200, 1800],
    tracked: 1200,
    human: 1800,
    none: 1200,
  },
  iterationsMax: { default: 100, min: 1, max: 100_000 },
} as const;
