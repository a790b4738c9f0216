// What a queued job tells of itself while it waits: that it is queued, once; its place, in the state, whenever it changed; and why its queue does
// not go on by itself, once for each cause.
import type { QueueNote } from '../core/job.ts';
import { queueNamed } from '../core/limits.ts';
import type { Standing } from '../jobs/queue.ts';
import { isEnded } from '../jobs/view.ts';
import { exists } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import type { JobPaths } from '../store/layout.ts';
import { readState } from '../store/records.ts';
import type { Claim } from './claim.ts';
import type { Progress } from './progress.ts';

export class QueueVoice {
  private readonly claim: Claim;
  private readonly progress: Progress;
  private note: QueueNote | null;
  private readonly told = new Set<string>();

  constructor(claim: Claim, progress: Progress) {
    this.claim = claim;
    this.progress = progress;
    this.note = progress.state.queue ?? null;
    if (this.note?.held !== undefined) this.told.add(this.note.held);
  }

  async tell(standing: Standing, held: string | undefined): Promise<void> {
    await this.write({ ...noteOf(standing), ...(held === undefined ? {} : { held }) });
  }

  async tellHeld(held: string | undefined): Promise<void> {
    if (held === undefined) return;
    await this.write({ ...(this.note ?? { place: 1, live: 0, behind: [] }), held });
  }

  /** Under the job's lock: its end may be published by others while this worker is stopped, and it stays. */
  private async write(note: QueueNote): Promise<void> {
    if (JSON.stringify(note) === JSON.stringify(this.note)) return;
    const { paths, spec } = this.claim;
    await withLock(paths.lock, () => {
      if (isOver(paths)) return;
      const isFirst = this.note === null;
      const isNews = note.held !== undefined && !this.told.has(note.held);
      const wake = isNews ? { wake: ['attention'], message: note.held } : {};
      const { held: _, ...place } = note;
      const fields = { ...place, max_live: spec.max_live, ...wake };
      if (isFirst || isNews) this.progress.note('queued', fields, { state: 'queued', queue: note });
      else this.progress.change({ queue: note });
      this.note = note;
      if (note.held !== undefined) this.told.add(note.held);
    });
  }
}

/** Somebody ended it, or it is gone. */
export function isOver(paths: JobPaths): boolean {
  if (!exists(paths.folder)) return true;
  const read = readState(paths);
  return read.kind === 'ok' && isEnded(read.value);
}

function noteOf({ ahead, atWork, place }: Standing): QueueNote {
  const before = ahead.at(-1);
  const behind = before ? [before] : atWork.slice(0, queueNamed).map(({ id }) => id);
  return { place, live: atWork.length, behind };
}
