// Telling what an agent hands back while it works: a look about each second, an event that wakes for each file. It can end nothing, and a
// folder that gives no answer keeps nothing else waiting. The last look is that of jobs/handback-end.ts.
import { messageOf } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { handbackLook, pathLookMs } from '../core/limits.ts';
import { handbackEvent, handbackWarnings, newBounds } from '../jobs/handback-end.ts';
import { HandbackLook, type HandbackSeen } from '../jobs/handback-look.ts';
import { monotonicMs } from '../platform/clock.ts';
import { fileFacts } from '../platform/file-facts.ts';
import { appendText } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import type { Claim } from './claim.ts';
import type { Progress } from './progress.ts';

export interface HandbackTeller {
  /** Begins a look, unless one is on its way or has just been. */
  look(): void;
  /** What a look that is on its way finds is left for the last one. */
  stop(): void;
}

export function tellHandback(claim: Claim, progress: Progress): HandbackTeller | undefined {
  const { spec, paths } = claim;
  if (!spec.handback) return undefined;
  const folder = new HandbackLook(spec.handback, paths);
  let isLooking = false;
  let isOver = false;
  let lastMs = 0;
  let wholeMs = 0;
  let stamp = '';

  const tell = ({ news, trouble }: HandbackSeen): void => {
    if (isOver || !exists(paths.folder)) return;
    for (const one of news) progress.note('handback', handbackEvent(one), { handback: folder.standing });
    const { state } = progress;
    const warnings = handbackWarnings(state.warnings, folder, trouble);
    for (const one of newBounds(folder)) progress.note('handback_many', one, { warnings, handback: folder.standing });
    const isNews = warnings.length !== progress.state.warnings.length;
    const isFrozen = folder.standing.frozen;
    if (isNews || isFrozen !== (state.handback?.frozen ?? false))
      progress.change({ warnings, handback: folder.standing });
  };

  const { dir } = spec.handback;
  /** A new name changes the folder itself; what is written over in place is seen by the slower look. */
  const look = async (): Promise<void> => {
    const facts = await fileFacts(dir, pathLookMs);
    const now = facts ? `${facts.inode}/${facts.modified_ms}` : '';
    const isSame = now !== '' && now === stamp && folder.isSettled;
    stamp = now;
    if (isSame && monotonicMs() - wholeMs < handbackLook.wholeMs) return;
    wholeMs = monotonicMs();
    tell(await folder.look(false));
  };

  return {
    look() {
      // A nudge makes ticks follow each other at once: two looks then say nothing of whether a file stands still.
      if (isLooking || isOver || monotonicMs() - lastMs < handbackLook.stillMs) return;
      isLooking = true;
      look()
        .catch((error) => noteTrouble(claim, error))
        .finally(() => {
          isLooking = false;
          lastMs = monotonicMs();
        });
    },
    stop() {
      isOver = true;
    },
  };
}

/** Trouble of the look is none of the job's: it is noted, and the next look tries again. */
function noteTrouble({ paths }: Claim, error: unknown): void {
  try {
    if (exists(paths.folder))
      appendText(paths.workerLog, `cannot look into the hand-back folder: ${plainText(messageOf(error))}\n`);
  } catch {
    // No room, or the folder has just gone.
  }
}
