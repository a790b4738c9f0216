// `status --watch`: the table again and again until no job lives. On a terminal it is drawn in place; elsewhere nothing is printed before
// the end, and then the table once. Costs O(live): what has ended is not read again.
import { type ExitCode, exitCodeOf, exitCodes } from '../core/exit-codes.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { byLife, type Choice, isChosen, listViews, tryView } from '../jobs/listing.ts';
import { makeNap } from '../jobs/nap.ts';
import { conditionOf, inspect, isEnded, type View } from '../jobs/view.ts';
import { isoNow } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { exists } from '../platform/folders.ts';
import { endBySignal, onContinue, onInterrupt } from '../platform/interrupt.ts';
import { listActive } from '../store/catalog.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { tableOf } from './status-table.ts';

export interface Watching extends Choice {
  root: StateRoot;
  /** Only this job; null: all that live, and the recent ones. */
  id: string | null;
  recent: number;
  everyMs: number;
}

const calmRounds = 10;

export async function watchStatus(
  context: Pick<Context, 'screen' | 'width' | 'isTerminal'>,
  ask: Watching,
): Promise<Reply> {
  const { screen } = context;
  const nap = makeNap<'resize'>(new AbortController().signal);
  const jobs = new Jobs(ask);
  const releases = screen
    ? [
        screen.onResize(() => nap.ring('resize')),
        onContinue(() => screen.leave()),
        // The terminal is as it was: only the table stays where it is.
        onInterrupt(endBySignal),
      ]
    : [];
  const isColored = context.isTerminal && !variables.noColor();
  try {
    for (let views = await jobs.again(); ; views = await jobs.next()) {
      // What began and ended between two looks is seen only by looking at all once more.
      if (areEnded(views)) views = await jobs.again();
      // Its folder is gone: said as everywhere.
      if (ask.id !== null && views.length === 0) inspect(ask.root.folder, ask.id);
      if (areEnded(views)) {
        screen?.clear();
        const width = screen?.size().columns ?? context.width;
        const out =
          views.length === 0
            ? (await import('./no-jobs.ts')).noJobs(ask.root, ask)
            : await tableOf(views, { width, isColored });
        return { code: codeOf(ask, views), out: `${out}\n` };
      }
      screen?.draw(await pageOf(views, screen.size().columns - 1, isColored));
      await nap.sleep(ask.everyMs);
      // Nobody looks at a pipe: as long as the same jobs live, it is enough to look at them now and then.
      for (let calm = 1; !screen && calm < calmRounds && jobs.isSame(); calm += 1) await nap.sleep(ask.everyMs);
    }
  } finally {
    for (const release of releases) release();
  }
}

function areEnded(views: View[]): boolean {
  return views.every((view) => isEnded(view.state));
}

function codeOf({ id }: Watching, [view]: View[]): ExitCode {
  return id !== null && view ? exitCodeOf(view.state.state) : exitCodes.done;
}

async function pageOf(views: View[], width: number, isColored: boolean): Promise<string> {
  const live = views.filter((view) => !isEnded(view.state));
  const head = `${isoNow().slice(0, 19)}Z  ${live.length} live`;
  const reasons = live.flatMap((view) => {
    const { health, reason } = healthOf(view, conditionOf(view));
    return health === 'attention' && reason ? [`! ${view.id}: ${reason}`] : [];
  });
  return [head, await tableOf(views, { width, isColored, isLive: true }), ...reasons].join('\n');
}

/** The rows: what lives, what ended meanwhile, and what had ended when we began. */
class Jobs {
  private readonly ask: Watching;
  private readonly known = new Map<string, View>();

  constructor(ask: Watching) {
    this.ask = ask;
  }

  /** As `status` would show them now, and none that we have shown is missing for being older. */
  async again(): Promise<View[]> {
    const { root: at, id, owner, kinds } = this.ask;
    const root = at.folder;
    const recent = Math.max(this.ask.recent, this.known.size);
    const views = id === null ? await listViews(root, { recent, owner, kinds }) : await tryView(root, id);
    for (const view of views) this.known.set(view.id, view);
    return this.rows();
  }

  async next(): Promise<View[]> {
    const { id } = this.ask;
    const root = this.ask.root.folder;
    const fresh = id === null ? listActive(root).filter((one) => !this.known.has(one)) : [];
    for (const one of fresh) await this.look(one);
    for (const view of this.known.values()) if (!isEnded(view.state)) await this.look(view.id);
    for (const view of this.known.values())
      if (!isChosen(view.spec, this.ask) || !exists(jobPaths(root, view.id).folder)) this.known.delete(view.id);
    return this.rows();
  }

  /** By the markers alone. */
  isSame(): boolean {
    const live = [...this.known.values()].filter((view) => !isEnded(view.state)).map((view) => view.id);
    const active = new Set(listActive(this.ask.root.folder));
    return (
      live.every((id) => active.has(id)) && (this.ask.id !== null || [...active].every((id) => this.known.has(id)))
    );
  }

  private async look(id: string): Promise<void> {
    const [view] = await tryView(this.ask.root.folder, id);
    if (view) this.known.set(id, view);
    else this.known.delete(id);
  }

  private rows(): View[] {
    return [...this.known.values()].sort(byLife);
  }
}
