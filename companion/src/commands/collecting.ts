// Waiting for jobs and what is printed then: of one job the deliverable and nothing else on stdout, of several each below a line
// that names it; everything else on stderr.

import { formatDuration } from '../core/duration.ts';
import { type ExitCode, exitCodeOfAll, exitCodes } from '../core/exit-codes.ts';
import { noteCollected } from '../jobs/collected.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { observation } from '../jobs/observation.ts';
import { inspect, isEnded, type View } from '../jobs/view.ts';
import { waitForJobs } from '../jobs/wait.ts';
import { withRegistration } from '../jobs/waiters.ts';
import { nowMs } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { endedDocument, tellEnded } from './ended.ts';
import { withFarewell } from './farewell.ts';

export interface Collecting {
  mode: 'any' | 'all';
  timeoutMs: number;
  heartbeatMs: number | null;
  isJson: boolean;
  /** Notes that the caller has heard in this very call: not told again. */
  told?: readonly string[];
}

export async function waitAndTell(
  context: Context,
  root: StateRoot,
  ids: string[],
  options: Collecting,
): Promise<Reply> {
  const wait = () =>
    waitForJobs(root.folder, ids, {
      ...options,
      // A person who looks at the terminal gets one line that is renewed; everybody else silence, or the lines asked for.
      heartbeatMs: options.heartbeatMs ?? (context.live ? 1000 : null),
      onHeartbeat: (seen) => {
        const lines = seen.map((view) => heartbeat(asOfNow(view)));
        if (options.heartbeatMs !== null) for (const line of lines) context.tell(line);
        else context.live?.(lines.join(' | ').slice(0, Math.max(20, context.width - 1)));
      },
    });
  const views = await withFarewell(context, root, ids, () =>
    withRegistration(root.folder, ids, options.timeoutMs, wait),
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
  const outs = replies.map((reply) => Buffer.from(reply.out ?? ''));
  return {
    code,
    afterPrint,
    out: shown.length === 1 ? outs[0] : joined(context, shown, outs),
    notes: replies.flatMap((reply) => reply.notes ?? []).filter((note) => !options.told?.includes(note)),
  };
}

/**
 * Several deliverables: one after the other, each with an end of its last line. Whose they are stands on stderr, in the same order;
 * a person at a terminal sees it above each as well. A program that must tell them apart takes --json.
 */
function joined(context: Pick<Context, 'isTerminal'>, views: View[], outs: Buffer[]): Buffer {
  const parts = views.flatMap((view, at) => {
    const bytes = outs[at] ?? Buffer.alloc(0);
    const head = context.isTerminal ? `${at === 0 ? '' : '\n'}== ${view.id}: ${view.state.state} ==\n` : '';
    return [Buffer.from(head), bytes, Buffer.from(bytes.length === 0 || bytes.at(-1) === 10 ? '' : '\n')];
  });
  return Buffer.concat(parts);
}

/** The one that ended first. */
function firstOf(views: View[]): View[] {
  return [...views].sort((a, b) => Date.parse(a.state.ended_at ?? '') - Date.parse(b.state.ended_at ?? '')).slice(0, 1);
}

function pendingOf(views: View[]): string[] {
  return views.filter((view) => !isEnded(view.state)).map((view) => view.id);
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

/** A wait that sleeps on the worker's FIFO has last looked when it fell asleep. */
function asOfNow(view: View): View {
  try {
    return isEnded(view.state) ? view : inspect(view.root, view.id);
  } catch {
    // Its folder is being removed: the wait itself will tell.
    return view;
  }
}

function heartbeat(view: View): string {
  const age = view.state.started_at
    ? formatDuration(Math.max(0, nowMs() - Date.parse(view.state.started_at)))
    : 'not started';
  return `${view.id}: ${view.state.state}, ${age}`;
}
