// One row of `status --json`: short, with what stands beside the state.
import { excerpt, plainText, plainValue } from '../core/excerpt.ts';
import { ageOf } from '../core/recorded-time.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { checkpointOf, livenessSeen, queueSeen, timerSeen, watchSeen } from '../jobs/parts-seen.ts';
import { staffFacts } from '../jobs/staff-facts.ts';
import { conditionOf, isEnded, type View } from '../jobs/view.ts';
import { nowMs } from '../platform/clock.ts';

export function rowDocument(view: View): Record<string, unknown> {
  const { state, spec } = view;
  const { error } = state;
  return {
    id: view.id,
    kind: spec?.kind ?? null,
    verb: spec?.verb ?? null,
    owner: spec?.owner ? excerpt(plainText(spec.owner), 200) : null,
    label: spec?.label ? excerpt(plainText(spec.label), 200) : null,
    ...(spec?.milestone ? { milestone: excerpt(plainText(spec.milestone), 64) } : {}),
    ...staffFacts(spec),
    lineage: spec?.lineage ? pick(plainValue(spec.lineage, 80) as object, ['relation', 'parent', 'root']) : null,
    state: state.state,
    ...(plainValue(healthOf(view, conditionOf(view)), 400) as object),
    checkpoint: pick(checkpointOf(state), ['n', 'at', 'phase', 'completed', 'total', 'eta_seconds']),
    liveness: isEnded(state) ? null : pick(livenessSeen(state), ['word', 'observations', 'at']),
    watch: pick(watchSeen(view), ['condition', 'words', 'verdict', 'word', 'polls']),
    timer: pick(timerSeen(view), ['due_at', 'due_in_ms', 'slot']),
    ...queueOf(view),
    created_at: state.created_at,
    ended_at: state.ended_at,
    age_ms: ageOf(state.created_at, nowMs()),
    duration_ms: state.duration_ms,
    exit_code: state.exit_code,
    error: error && { ...error, message: excerpt(plainText(error.message), 400) },
    cwd: spec?.cwd ?? null,
  };
}

function queueOf(view: View): Record<string, unknown> {
  const queue = queueSeen(view);
  return queue ? { queue } : {};
}

function pick(value: object | null, names: readonly string[]): Record<string, unknown> | null {
  return value && Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}
