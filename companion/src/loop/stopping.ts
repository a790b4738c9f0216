// A loop that stops by a limit says so in its state and in the last entry of its journal (S3.25).
import type { StopReason } from '../core/loop.ts';
import { isoNow } from '../platform/clock.ts';
import { changeLoop } from './files.ts';
import { appendEntry, entryText } from './journal.ts';
import type { LoopPlace } from './place.ts';

/** The first stop stays. */
export async function stopLoop(place: LoopPlace, reason: StopReason, detail: string): Promise<void> {
  await changeLoop(place, (state) => {
    if (state.stopped) return state;
    const at = isoNow();
    const parts = { did: [`STOP: ${reason} (${detail})`], verified: [], deficiencies: [detail], next: [] };
    appendEntry(place.journal, entryText(state.iteration, at, parts, 'stop'));
    return { ...state, stopped: { reason, detail, at } };
  });
}
