// Words of the jobs around a caller that goes idle: the queue, the folder in which a child hands things back, how an agent is doing.
// What stands in their spec and state (field names as on disk). Types only.

/** A job that waits for its turn (`--max-live`). */
export interface QueueNote {
  /** 1 is the next. */
  place: number;
  /** Jobs of its pool that were at work at that look. */
  live: number;
  /** Ids that it waits for first: those at work, or the one before it in the queue. */
  behind: string[];
  /** Why it does not go on by itself; absent when it does. */
  held?: string;
}

/** turn.json: its turn has come. Its hard limit counts from here. */
export interface Turn {
  at: string;
  boot_id: string;
  /** On the monotonic clock of that boot. */
  mono_ms: number;
  /** The files that a run is to leave behind, as they were then. */
  files: Record<string, unknown>;
}

/** A file of a hand-back folder, as it was at one look. */
export interface HandbackMark {
  /** What its content was: a SHA-256, of a large file that of both ends; else the stamp. */
  key: string;
  /** Inode, size, times; null in old records. */
  stamp: string | null;
}

/** `--handback DIR` as its launcher found it. */
export interface HandbackPart {
  /** Absolute, links resolved. */
  dir: string;
  /** Ordered files that were there already, and complete.md, by what they were: they wake nobody, and freeze nothing. Old
   * records have the key alone. */
  baseline: Record<string, HandbackMark | string>;
}

export interface HandbackNote {
  dir: string;
  /** Ordered files told so far: different names. */
  told: number;
  /** The name that was told last, of those that are still there. */
  newest: string | null;
  /** `complete.md` is there and ends with FROZEN. */
  frozen: boolean;
}

/** Is an agent at work, rightly waiting for something that works for it, or waiting for nothing? */
export interface LivenessNote {
  word: 'working' | 'waiting' | 'dead_wait' | 'unknown';
  /** One sentence: what moved, or what did not. */
  reason: string;
  /** Observations in a row that say so. */
  observations: number;
  at: string;
}
