// Which event wakes a `wait` that asked for more than the end. The oldest cause comes first, so that none is lost; of plain checkpoints
// only the newest is told, because it says all that the older ones said.
import { usageError } from './errors.ts';
import { type JobEvent, type Wake, wakes } from './events.ts';

/** What a caller can opt into; the end wakes always. */
export type Wanted = Exclude<Wake, 'terminal'>;

/** The greatest number that an event can have: what is beyond was not counted by us. */
export const maxSeq = 2 ** 40;

/** The words of `--until`: without `terminal`, which is always meant, and each once. */
export function parseUntil(text: string): Wanted[] {
  const words = text.split(',');
  const unknown = words.find((word) => !(wakes as readonly string[]).includes(word));
  if (unknown !== undefined)
    throw usageError(
      `cannot wait until ${JSON.stringify(unknown)}: allowed are ${wakes.join(', ')}, with commas between`,
    );
  return [...new Set(words)].filter((word): word is Wanted => word !== 'terminal');
}

export interface Chosen {
  event: JobEvent;
  wake: Wanted;
  /** So many further ones that match come after it. */
  pending: number;
  /** So many older plain checkpoints it stands for. */
  skipped: number;
}

/** Takes events in the order of the journal and keeps only what it may need. */
export class WakeChoice {
  private readonly wanted: readonly Wanted[];
  private readonly after: number;
  private cause: JobEvent | undefined;
  private newest: JobEvent | undefined;
  private later = 0;
  private plain = 0;

  constructor(wanted: readonly Wanted[], after: number) {
    this.wanted = wanted;
    this.after = after;
  }

  add(event: JobEvent): void {
    if (!isNumbered(event) || event.seq <= this.after || wordOf(event, this.wanted) === undefined) return;
    if (this.cause !== undefined) this.later += 1;
    else if (isPlainCheckpoint(event)) {
      this.newest = event;
      this.plain += 1;
    } else this.cause = event;
  }

  chosen(): Chosen | undefined {
    const event = this.cause ?? this.newest;
    const wake = event && wordOf(event, this.wanted);
    if (!event || !wake) return undefined;
    const isCause = this.cause !== undefined;
    return { event, wake, pending: isCause ? this.later : 0, skipped: isCause ? this.plain : this.plain - 1 };
  }
}

/** Whoever may write into the folder may write an event: one with an odd number would end all counting. */
export function isNumbered({ seq }: Pick<JobEvent, 'seq'>): boolean {
  return Number.isSafeInteger(seq) && seq >= 0 && seq <= maxSeq;
}

/** The most urgent first. */
const byUrgency: readonly Wanted[] = ['attention', 'handback', 'news', 'checkpoint'];

function wordOf({ wake }: JobEvent, wanted: readonly Wanted[]): Wanted | undefined {
  if (!Array.isArray(wake)) return undefined;
  return byUrgency.find((word) => wanted.includes(word) && wake.includes(word));
}

/** A checkpoint that also tells of a new cause is no plain one, whatever the caller waits for. */
function isPlainCheckpoint({ wake }: JobEvent): boolean {
  return Array.isArray(wake) && wake.every((word) => word === 'checkpoint');
}
