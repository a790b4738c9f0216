// Whose signs of life a queued job listens to: of the one before it, or, as the first, of all that are at work.
import { queueHeard } from '../core/limits.ts';
import type { Standing } from '../jobs/queue.ts';
import { watchFifo } from '../platform/fifo.ts';
import { jobPaths } from '../store/layout.ts';

export class QueueSigns {
  private readonly root: string;
  private readonly ring: () => void;
  private readonly heard = new Map<string, (() => void) | undefined>();

  constructor(root: string, ring: () => void) {
    this.root = root;
    this.ring = ring;
  }

  /** True when there was somebody new to listen to. */
  async hear(standing: Standing): Promise<boolean> {
    const ids = watchedOf(standing);
    for (const [id, close] of this.heard) {
      if (ids.includes(id)) continue;
      close?.();
      this.heard.delete(id);
    }
    let isNew = false;
    // Asked again as long as there is none: a worker that was just started has not made its own yet.
    for (const id of ids) {
      if (this.heard.get(id)) continue;
      const onEnd = (): void => {
        this.heard.get(id)?.();
        this.heard.delete(id);
        this.ring();
      };
      const close = await watchFifo(jobPaths(this.root, id).leaseFifo, onEnd);
      this.heard.set(id, close);
      isNew = isNew || close !== undefined;
    }
    return isNew;
  }

  close(): void {
    for (const close of this.heard.values()) close?.();
  }
}

/** The one before it; as the first all that are at work. */
function watchedOf({ ahead, atWork }: Standing): string[] {
  const before = ahead.at(-1);
  return before ? [before] : atWork.slice(0, queueHeard).map(({ id }) => id);
}
