// The table of `status`. What does not fit the terminal goes column by column; what the job is about stays.
import { formatAge, formatDuration } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Health } from '../core/job.ts';
import { ageOf } from '../core/recorded-time.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { staffFacts } from '../jobs/staff-facts.ts';
import { conditionOf, isEnded, type View } from '../jobs/view.ts';
import { makePaint, type Paint } from '../output/style.ts';
import { fitTable, renderTable } from '../output/table.ts';
import { nowMs } from '../platform/clock.ts';
import { progressCells } from './progress-cells.ts';
import { whatOf } from './status-what.ts';

export interface TableLook {
  width: number;
  isColored: boolean;
  /** For people who watch it: with the health of each job, without what does not change. */
  isLive?: boolean;
}

type Cells = Record<string, string>;

const plainHead = ['ID', 'STATE', 'TIME', 'PROGRESS', 'ETA', 'ENDED', 'OWNER', 'BACKEND', 'PROFILE', 'MODEL', 'WHAT'];
const liveHead = ['ID', 'STATE', 'HEALTH', 'TIME', 'PROGRESS', 'ETA', 'OWNER', 'WHAT'];
/** The least needed first. */
const dispensable = ['MODEL', 'PROFILE', 'OWNER', 'BACKEND', 'ENDED', 'HEALTH', 'ETA', 'PROGRESS'];
/** A column that is there only when somebody has something in it. */
const optional = ['PROGRESS', 'ETA'];
/** A bar is shorter where there is little room. */
const narrow = 100;

export async function tableOf(views: View[], look: TableLook): Promise<string> {
  const color = await makePaint(look.isColored);
  const cells = views.map((view) => cellsOf(view, look.width < narrow ? 6 : 10));
  const wanted = look.isLive ? liveHead : plainHead;
  const head = wanted.filter((name) => !optional.includes(name) || cells.some((row) => row[name] !== '-'));
  const rows = cells.map((row) => head.map((name) => row[name] ?? '-'));
  const lines = renderTable(fitTable({ head, rows }, look.width, dispensable), look.width).split('\n');
  return lines.map((line, index) => paint(line, views[index - 1], color)).join('\n');
}

function cellsOf(view: View, barWidth: number): Cells {
  const { health } = healthOf(view, conditionOf(view));
  const { backend, profile, model } = staffFacts(view.spec);
  const { bar, eta, note } = progressCells(view, barWidth);
  const isLive = !isEnded(view.state);
  return {
    ID: view.id,
    STATE: health === 'attention' && isLive ? `${view.state.state}!` : view.state.state,
    HEALTH: isLive ? health : '-',
    TIME: timeOf(view),
    PROGRESS: bar ?? (view.spec?.run ? excerpt(note ?? '-', 20) : '-'),
    ETA: eta ?? '-',
    ENDED: endedOf(view) ?? '-',
    OWNER: ownerOf(view),
    BACKEND: excerpt(backend ?? '-', 24),
    PROFILE: excerpt(profile ?? '-', 24),
    MODEL: excerpt(model ?? '-', 24),
    WHAT: whatOf(view),
  };
}

function paint(line: string, view: View | undefined, color: Paint): string {
  return view ? line.replace(` ${view.state.state}`, (word) => color(view.state.state, word)) : line;
}

/** For people: nobody has judged it is no trouble. */
export function healthWord(health: Health): string {
  return health === 'unknown' ? 'not judged yet' : health;
}

/** How long it took, or has been there. */
export function timeOf({ state }: View): string {
  if (state.duration_ms !== null) return formatDuration(state.duration_ms);
  const age = ageOf(state.created_at, nowMs()) ?? 0;
  // Whole seconds, so that a table that is drawn again and again stands still.
  return formatDuration(age < 1000 ? age : Math.floor(age / 1000) * 1000);
}

/** `3h ago`; null while it lives. */
export function endedOf({ state }: View): string | null {
  const age = isEnded(state) ? ageOf(state.ended_at, nowMs()) : null;
  return age === null ? null : `${formatAge(age)} ago`;
}

export function ownerOf(view: View): string {
  return excerpt(plainText(view.spec?.owner ?? '-'), 16);
}
