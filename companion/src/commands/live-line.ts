// One job in one line, for a heartbeat and for the line that a terminal shows while a wait sleeps.
import { formatDuration } from '../core/duration.ts';
import { ageOf } from '../core/recorded-time.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { conditionOf, type View } from '../jobs/view.ts';
import { nowMs } from '../platform/clock.ts';
import { progressCells } from './progress-cells.ts';

export function lineOf(view: View): string {
  const age = ageOf(view.state.started_at, nowMs());
  const { health } = healthOf(view, conditionOf(view));
  const { bar, eta, note } = progressCells(view);
  const parts = [
    view.state.state,
    // "unknown" is what can be said of most healthy jobs: not worth a word here.
    ...(health === 'unknown' ? [] : [health]),
    age === null ? 'not started' : formatDuration(age < 1000 ? age : Math.floor(age / 1000) * 1000),
    ...(bar === null ? [] : [bar]),
    ...(eta === null ? [] : [`ETA ${eta}`]),
    ...(note === null ? [] : [note]),
  ];
  return `${view.id}: ${parts.join(', ')}`;
}
