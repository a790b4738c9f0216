// The life of a timer that has somebody to tell: sleep until the instant or a request to go, then publish the end, unless a reader did. The
// instant is one of the wall clock, which is set and runs on while the machine sleeps: so it is looked at again and again.
import { timerLookMs } from '../core/limits.ts';
import { concludeTimer } from '../jobs/timer-end.ts';
import { inspect, isEnded } from '../jobs/view.ts';
import { nowMs } from '../platform/clock.ts';
import { exists } from '../platform/folders.ts';
import { withLock } from '../platform/lock.ts';
import { openJournal } from '../store/journal.ts';
import { readCancel } from '../store/records.ts';
import type { Claim } from './claim.ts';
import { makeTicker } from './ticker.ts';

/** A sleeping timer needs no look each second: a request to go wakes it. */
const tickMs = 5000;

export async function runTimer(claim: Claim): Promise<void> {
  const { paths, spec, generation, self } = claim;
  // A reader may settle it at any moment: whatever is written here is written under the lock, after a look.
  const unlessEnded = (act: () => void): Promise<void> =>
    withLock(paths.lock, () => (isEnded(inspect(claim.root, spec.id).state) ? undefined : act()));
  const type = generation === 1 ? 'claimed' : 'worker_replaced';
  await unlessEnded(() => void openJournal(paths, spec).append(type, { worker: self.pid, generation }));
  await untilOver(claim);
  if (exists(paths.folder)) await unlessEnded(() => concludeTimer(claim, false));
}

function untilOver(claim: Claim): Promise<void> {
  const { paths, spec } = claim;
  const due = Date.parse(spec.timer?.due_at ?? '');
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const look = (): void => {
      clearTimeout(timer);
      const rest = due - nowMs();
      if (rest > 0 && exists(paths.folder) && !readCancel(paths)) {
        timer = setTimeout(look, Math.min(rest, timerLookMs));
        return;
      }
      stop();
      resolve();
    };
    const stop = makeTicker(claim, look, tickMs);
  });
}
