// What a wait tells when it is over: of one job the deliverable and nothing else on stdout, of several each below a line that names it;
// before the end the progress and the exact next command. Everything else on stderr.
import { type ExitCode, exitCodeOfAll, exitCodes } from '../core/exit-codes.ts';
import { instantOf } from '../core/recorded-time.ts';
import { noteCollected } from '../jobs/collected.ts';
import { observation } from '../jobs/observation.ts';
import { isEnded, type View } from '../jobs/view.ts';
import type { Waited } from '../jobs/wait.ts';
import { isoNow } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { endedDocument, tellEnded } from './ended.ts';
import { lineOf } from './live-line.ts';
import { noticeNotes } from './notice-notes.ts';
import { pictureText } from './picture.ts';
import { type Collecting, waitAgain } from './wait-again.ts';
import { tellWoken } from './woken.ts';

export function tellWaited(context: Context, root: StateRoot, waited: Waited, options: Collecting): Reply {
  const { views, woken } = waited;
  const ended = views.filter((view) => isEnded(view.state));
  const isOver = options.mode === 'any' ? ended.length > 0 : ended.length === views.length;
  // The end wins over whatever else there is to tell.
  const reply =
    isOver || !woken
      ? tellAll(context, root, { ...waited, isOver }, options)
      : tellWoken(context, root, views, woken, options);
  return { ...reply, notes: [...beyondNotes(waited), ...(reply.notes ?? [])] };
}

function tellAll(
  context: Context,
  root: StateRoot,
  { views, isOver, beyond }: Waited & { isOver: boolean },
  options: Collecting,
): Reply {
  const ended = views.filter((view) => isEnded(view.state));
  const shown = isOver && options.mode === 'any' ? firstOf(ended) : views;
  const code: ExitCode = isOver ? exitCodeOfAll(shown.map((view) => view.state.state)) : exitCodes.pending;
  const ids = views.map((view) => view.id);
  const cursors = cursorsNow(options, beyond);
  const again = waitAgain(root, ids, options, cursors);
  const isOpted = (options.until ?? []).length > 0;
  const afterPrint = (): void => {
    for (const view of shown) if (isEnded(view.state)) noteCollected(view, 'wait');
  };
  const picture = (view: View) =>
    observation(view, {
      afterSeq: null,
      root,
      waited: { wake: 'soft_timeout', next: again, cursor: isOpted ? (cursors.get(view.id) ?? 0) : undefined },
    });
  if (options.isJson) {
    const documents = shown.map((view) =>
      isEnded(view.state) ? { wake: 'terminal', ...endedDocument(view) } : picture(view),
    );
    if (views.length === 1) return { code, afterPrint, json: documents[0] };
    const pending = views.filter((view) => !isEnded(view.state)).map((view) => view.id);
    const wake = isOver ? 'terminal' : 'soft_timeout';
    const next = isOver ? {} : { next: { wait: again } };
    return { code, afterPrint, json: { wake, now: isoNow(), jobs: documents, pending, ...next } };
  }
  const replies = shown.map((view) =>
    isEnded(view.state) ? tellEnded(context, view) : tellPending(context, view, root, picture(view)),
  );
  const outs = replies.map((reply) => Buffer.from(reply.out ?? ''));
  const out = shown.length === 1 ? (outs[0] ?? Buffer.alloc(0)) : joined(context, shown, outs);
  return {
    code,
    afterPrint,
    out: isOver ? out : Buffer.concat([out, Buffer.from(`${again}\n`)]),
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
  const endOf = ({ state }: View): number => instantOf(state.ended_at) ?? Number.POSITIVE_INFINITY;
  return [...views].sort((a, b) => endOf(a) - endOf(b)).slice(0, 1);
}

/** Patience is over: the snapshot is what this call delivers. */
function tellPending(context: Context, view: View, root: StateRoot, document: Record<string, unknown>): Reply {
  return {
    code: exitCodes.pending,
    out: pictureText(context, view, root, document),
    notes: [`${lineOf(view)}; not ended yet, wait again with the last line`, ...noticeNotes(view)],
  };
}

/** Where each job's cursor is: as given, or where one that was out of reach was put. */
function cursorsNow({ cursors = new Map() }: Collecting, beyond: Waited['beyond']): Map<string, number> {
  const now = new Map([...cursors].map(([id, { seq }]): [string, number] => [id, seq]));
  for (const { id, newest } of beyond) now.set(id, newest);
  return now;
}

/** A cursor that cannot be right would let a wait sleep through what it was to tell. */
function beyondNotes({ beyond }: Waited): string[] {
  return beyond.map(
    ({ id, given, newest }) =>
      `warning: --after-seq ${given} is beyond the events of job ${id}, whose newest was ${newest}: taken as ${newest}`,
  );
}
