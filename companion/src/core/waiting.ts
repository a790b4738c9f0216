// Jobs that wait for something: a watched condition, an instant. What stands in their spec and what is told of them.

/** What a look at a condition comes to. */
export type WatchVerdict = 'pending' | 'met' | 'failed' | 'error';

export interface WatchPart {
  /** The kind (watches/registry.ts). */
  condition: string;
  /** What that kind made of the caller's words; plain JSON. */
  input: Record<string, unknown>;
  /** Where its first look begins: how things were at the launch. */
  start?: Record<string, unknown>;
  /** The same for people, one line. */
  words: string;
  every_ms: number;
  /** Bound of one attempt. */
  attempt_ms: number;
  /** So many attempts in a row may fail; null: until the bound. */
  tolerate: number | null;
  /** Tell every change until the bound instead of ending at the first verdict. */
  repeat: boolean;
}

/** What the newest look said. */
export interface WatchNote {
  verdict: WatchVerdict;
  /** The kind's own word: `passed`, `armed`, ... */
  word: string;
  /** At most 200 characters. */
  evidence: string;
  facts: Record<string, unknown>;
  polls: number;
  /** Things told so far. */
  told: number;
  /** Changes told: news after the first look. Older records do not have it. */
  changes?: number;
  /** `--repeat` that came to its bound: nothing failed. */
  watched_to_end?: true;
  /** Failed attempts in a row up to now, and why the newest failed. */
  troubles: number;
  /** Somebody was told of this trouble: that it is known to last (`long`), or that it did. */
  alarm?: 'long' | 'lasting';
  trouble: string | null;
}

export interface TimerPart {
  /** On the wall clock; it counts on whoever is alive. */
  due_at: string;
  /** Of `timer in`: what was asked for, in ms. Null of `timer at`. */
  delay_ms: number | null;
  /** Byte for byte what `wait` prints. */
  message: string;
  /** A slot has one armed timer: a new one replaces it. */
  slot: string | null;
  /** The instant stands on disk: it outlives every process and the machine's restart. */
  durable: true;
}
