// How a job stands for whoever its event wakes. A worker writes the event first and the state after it, so that a wait may be woken
// between both: the state is looked at again until it knows of the event, and where it never does the event itself says how things are.
import type { JobEvent } from '../core/events.ts';
import type { JobState, WatchNote } from '../core/job.ts';
import { stateLagMs } from '../core/limits.ts';
import { monotonicMs, sleep } from '../platform/clock.ts';
import { checkpointOf, livenessSeen, watchOf } from './parts-seen.ts';
import { isEnded, type View } from './view.ts';
import type { WakeSeen } from './wake-watch.ts';

const pauseMs = 15;

/** The job with the event in it, or ended. */
export async function viewAt(event: WakeSeen['event'], look: () => Promise<View>, signal: AbortSignal): Promise<View> {
  const until = monotonicMs() + stateLagMs;
  for (;;) {
    const isLast = monotonicMs() >= until || signal.aborted;
    const view = await look();
    if (event.seq === null || isEnded(view.state) || view.state.seq >= event.seq) return view;
    if (isLast) return withEvent(view, event);
    await sleep(pauseMs);
  }
}

/** A worker that died between both writes never tells the rest. */
function withEvent(view: View, event: JobEvent): View {
  return { ...view, state: { ...view.state, ...standingIn(event, view.state) } };
}

function standingIn(event: JobEvent, state: JobState): Partial<JobState> {
  const { type, at, seq: _, job: __, owner: ___, wake, ...told } = event;
  const isAttention = Array.isArray(wake) && wake.includes('attention');
  const alarm: Partial<JobState> = isAttention ? { health: 'attention', attention_kind: 'task_attention' } : {};
  if (type === 'checkpoint') {
    const checkpoint = checkpointOf({ ...state, checkpoint: { ...told, at } as unknown as JobState['checkpoint'] });
    if (!checkpoint) return alarm;
    return { health: checkpoint.state, attention_kind: checkpoint.attention_kind, checkpoint };
  }
  if (type === 'liveness') {
    const liveness = livenessSeen({ ...state, liveness: { ...told, at } as unknown as JobState['liveness'] });
    return liveness ? { ...alarm, liveness } : alarm;
  }
  const looked = lookIn(event);
  const note = looked && watchOf({ ...state, watch: { verdict: 'pending', ...state.watch, ...looked } as WatchNote });
  if (!note) return alarm;
  const watch = { ...note, facts: {} };
  return isAttention && type === 'trouble' ? { ...alarm, watch } : { health: 'unknown', attention_kind: null, watch };
}

/** What a watch's event says of its newest look. */
function lookIn({
  type,
  verdict,
  word,
  evidence,
  message,
  in_a_row,
  n,
}: JobEvent): Record<string, unknown> | undefined {
  if (type === 'news') return { verdict, word, evidence, told: n, troubles: 0, trouble: null };
  if (type === 'trouble') return { troubles: in_a_row, trouble: message, told: n };
  return undefined;
}
