// Which wakes come too late or twice. A woken caller goes by what is on disk and not by the message that woke it: what was read before, what its job's end
// has overtaken, and a timer that had nothing left to guard are named here, so that nobody acts on them again.
import { formatAge } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { compareIds } from '../core/ids.ts';
import { wakeJobs } from '../core/limits.ts';
import { instantOf } from '../core/recorded-time.ts';
import { nowMs } from '../platform/clock.ts';
import { listJobs } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readCancel, readSpec, readState } from '../store/records.ts';
import { collectedBy, lastCollectedSeq } from './collected.ts';
import type { Fired } from './fired.ts';
import { isEnded, type View } from './view.ts';

export interface Late {
  kind: 'duplicate' | 'late' | 'replaced';
  words: string;
}

/** Null for a wake that is to be acted on. */
export function lateOf(fired: Fired, view: View): Late | null {
  if (fired.wake !== 'terminal') return lateEvent(fired, view);
  const replaced = replacedBy(view);
  if (replaced !== null) return { kind: 'replaced', words: `${replaced}; a wake by it is to be ignored` };
  const collected = collectedBy(view);
  if (collected) return { kind: 'duplicate', words: `${readWords(collected)}; another wake for it is a duplicate` };
  return view.spec?.timer && view.state.state === 'done' ? lateTimer(view) : null;
}

function lateEvent(fired: Fired, view: View): Late | null {
  if (isEnded(view.state))
    return {
      kind: 'late',
      words: `its job has ended since (${view.state.state}); ${fired.wake === 'handback' ? 'what it left is to be read with its end' : 'go by the end, not by this'}`,
    };
  const told = lastCollectedSeq(view);
  const newest = fired.events.at(-1)?.seq ?? 0;
  if (told === null || newest > told) return null;
  return {
    kind: 'duplicate',
    words: `a wait has told it already (event ${newest}); another wake for it is a duplicate`,
  };
}

/** `read by wait of builder 3m ago`. */
function readWords({ by, owner, at }: Record<string, unknown>): string {
  const who = typeof owner === 'string' ? ` of ${short(owner)}` : '';
  const ms = instantOf(at);
  const when = ms === null ? '' : ` ${formatAge(nowMs() - ms)} ago`;
  return `read by ${by === 'wait' || by === 'result' ? by : 'somebody'}${who}${when}`;
}

function replacedBy(view: View): string | null {
  if (!view.spec?.timer || view.state.state !== 'canceled') return null;
  const why = readCancel(view.paths)?.why;
  return why?.startsWith('replaced by ') ? short(why) : null;
}

function lateTimer(view: View): Late | null {
  const due = instantOf(view.spec?.timer?.due_at) ?? nowMs();
  const guarded = guardedBy(view, due);
  const open = guarded.filter((one) => one.endedMs === null || one.endedMs > due);
  if (guarded.length === 0 || open.length > 0) return null;
  const last = guarded.reduce((a, b) => ((b.endedMs ?? 0) > (a.endedMs ?? 0) ? b : a));
  const before = formatAge(due - (last.endedMs ?? due));
  return { kind: 'late', words: `nothing was left to guard when it came due: ${last.id} ended ${before} before` };
}

/** An armed timer whose jobs have all ended: it would wake its caller for nothing. */
export function isIdleTimer(view: View): boolean {
  if (!view.spec?.timer || isEnded(view.state)) return false;
  const guarded = guardedBy(view, nowMs());
  return guarded.length > 0 && guarded.every((one) => one.endedMs !== null);
}

/** Jobs of the same owner that it may have been set for: no timers, there before `until`, and not over before it was armed. */
function guardedBy(timer: View, until: number): { id: string; endedMs: number | null }[] {
  const armed = instantOf(timer.state.created_at) ?? 0;
  const found: { id: string; endedMs: number | null }[] = [];
  for (const id of listJobs(timer.root).slice(0, guardedJobs).sort(compareIds)) {
    const paths = jobPaths(timer.root, id);
    const spec = id.startsWith('timer-') ? undefined : readSpec(paths);
    if (spec?.kind !== 'ok' || spec.value.owner !== (timer.spec?.owner ?? null)) continue;
    const state = readState(paths);
    const isOver = state.kind === 'ok' && isEnded(state.value);
    const endedMs = isOver ? (instantOf(state.value.ended_at) ?? 0) : null;
    if ((instantOf(spec.value.created_at) ?? 0) <= until && (endedMs === null || endedMs >= armed))
      found.push({ id, endedMs });
  }
  return found;
}

/** Of the newest ones; a timer is a short thing. */
const guardedJobs = 2 * wakeJobs;

function short(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), 60);
}
