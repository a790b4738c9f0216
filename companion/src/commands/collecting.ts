// What collecting commands print of ended and of still running jobs: the deliverable on stdout, everything else on stderr.

import { formatDuration } from '../core/duration.ts';
import { plainText } from '../core/excerpt.ts';
import { type ExitCode, exitCodeOf, exitCodeOfAll, exitCodes } from '../core/exit-codes.ts';
import type { JobState } from '../core/job.ts';
import { formatSize } from '../core/size.ts';
import { noteCollected } from '../jobs/collected.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { observation } from '../jobs/observation.ts';
import { terminalRecord } from '../jobs/terminal-record.ts';
import { isEnded, type View } from '../jobs/view.ts';
import { waitForJobs } from '../jobs/wait.ts';
import { withRegistration } from '../jobs/waiters.ts';
import { nowMs } from '../platform/clock.ts';
import { readRange, readText } from '../platform/files.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { workspaceNotes } from './workspace-notes.ts';

export interface Collecting {
  mode: 'any' | 'all';
  timeoutMs: number;
  heartbeatMs: number | null;
  isJson: boolean;
}

export async function waitAndTell(
  context: Context,
  root: StateRoot,
  ids: string[],
  options: Collecting,
): Promise<Reply> {
  const views = await withRegistration(root.folder, ids, options.timeoutMs, () =>
    waitForJobs(root.folder, ids, {
      ...options,
      // A person who looks at the terminal gets one line that is renewed; everybody else silence, or the lines asked for.
      heartbeatMs: options.heartbeatMs ?? (context.live ? 1000 : null),
      onHeartbeat: (seen) => {
        if (options.heartbeatMs === null) context.live?.(liveLine(seen).slice(0, Math.max(20, context.width - 1)));
        else for (const view of seen) context.tell(heartbeat(view));
      },
    }),
  );
  if (options.heartbeatMs === null) context.live?.('');
  return tellWaited(context, root, views, options);
}

function tellWaited(context: Context, root: StateRoot, views: View[], options: Collecting): Reply {
  const ended = views.filter((view) => isEnded(view.state));
  const isOver = options.mode === 'any' ? ended.length > 0 : ended.length === views.length;
  const shown = !isOver ? views : options.mode === 'any' ? firstOf(ended) : views;
  const code: ExitCode = isOver ? exitCodeOfAll(shown.map((view) => view.state.state)) : exitCodes.pending;
  const afterPrint = (): void => {
    for (const view of shown) if (isEnded(view.state)) noteCollected(view, 'wait');
  };
  if (options.isJson) {
    const documents = shown.map((view) =>
      isEnded(view.state) ? endedDocument(view) : observation(view, { afterSeq: null, root }),
    );
    return {
      code,
      afterPrint,
      json: views.length === 1 ? documents[0] : { jobs: documents, pending: pendingOf(views) },
    };
  }
  const replies = shown.map((view) => (isEnded(view.state) ? tellEnded(context, view) : tellPending(root, view)));
  return {
    code,
    afterPrint,
    out: Buffer.concat(replies.map((reply) => Buffer.from(reply.out ?? ''))),
    notes: replies.flatMap((reply) => reply.notes ?? []),
  };
}

/** The one that ended first. */
function firstOf(views: View[]): View[] {
  return [...views].sort((a, b) => Date.parse(a.state.ended_at ?? '') - Date.parse(b.state.ended_at ?? '')).slice(0, 1);
}

function pendingOf(views: View[]): string[] {
  return views.filter((view) => !isEnded(view.state)).map((view) => view.id);
}

/** The deliverable and the header of an ended job. */
export function tellEnded(context: Pick<Context, 'isTerminal'>, view: View): Reply {
  const deliverable = readRange(view.paths.result, 0, 64 * 1024 * 1024)?.bytes;
  if (view.damage !== null) return tellDamaged(view);
  const notes = [header(view), ...omittedNotes(view.state)];
  notes.push(...workspaceNotes(view));
  for (const warning of view.state.warnings) notes.push(`warning: ${plainText(warning.message)}`);
  if (!deliverable) notes.push(`warning: no result is stored; see ${view.paths.folder}`);
  const bytes = deliverable ?? Buffer.alloc(0);
  return {
    code: exitCodeOf(view.state.state),
    out: context.isTerminal ? plainText(bytes.toString('utf8')) : bytes,
    notes,
  };
}

function tellDamaged(view: View): Reply {
  const text = `# ${view.id}: state_damaged\n\n${view.state.error?.message}\n\nNothing was deleted. What is there: ${view.paths.folder}\n`;
  return {
    code: exitCodeOf(view.state.state),
    out: text,
    notes: [`see: ${nextCommands.doctor(view.id, view.spec?.state_option ?? [])}`],
  };
}

function header(view: View): string {
  const { state, paths, spec } = view;
  const parts = [`${view.id}: ${state.state}`];
  if (state.error) parts.push(`${state.error.code}: ${plainText(state.error.message)}`);
  if (state.exit_code !== null) parts.push(`exit code ${state.exit_code}`);
  if (state.duration_ms !== null) parts.push(formatDuration(state.duration_ms));
  const where = [`result: ${paths.result}`];
  if (spec?.kind === 'run') where.push(`whole output: ${paths.output}`);
  return `${parts.join(', ')}\n${where.join('\n')}`;
}

function omittedNotes(state: JobState): string[] {
  return Object.entries(state.output ?? {})
    .filter(([, note]) => note.omitted > 0)
    .map(
      ([name, note]) =>
        `${name}: ${note.exact ? '' : 'about '}${note.omitted} of ${note.bytes} bytes (${formatSize(note.omitted)}) are left out in the middle`,
    );
}

/** Patience is over: the snapshot and the exact next command are what this call delivers. */
function tellPending(root: StateRoot, view: View): Reply {
  const picture = JSON.stringify(observation(view, { afterSeq: null, root }), null, 1);
  const next = nextCommands.wait(view.id, root.option);
  return {
    code: exitCodes.pending,
    out: `${picture}\n${next}\n`,
    notes: [`${view.id}: ${view.state.state}, not ended yet; wait again with the last line`],
  };
}

export function endedDocument(view: View): unknown {
  if (view.damage !== null) return view.state;
  const stored = readText(view.paths.resultRecord);
  try {
    if (stored !== undefined) return { ...(JSON.parse(stored) as object), state: view.state.state };
  } catch {
    // The state alone still says how it ended.
  }
  return view.spec ? terminalRecord(view.spec, view.paths, view.state) : view.state;
}

function liveLine(views: View[]): string {
  return views.map(heartbeat).join(' | ');
}

function heartbeat(view: View): string {
  const age = view.state.started_at
    ? formatDuration(Math.max(0, nowMs() - Date.parse(view.state.started_at)))
    : 'not started';
  return `${view.id}: ${view.state.state}, ${age}`;
}
