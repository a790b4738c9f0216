// What a wait tells that was woken before the end: the job as it is, first of all what woke it; then the exact command that waits on.
import { excerpt, plainText } from '../core/excerpt.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { answerName, isHandback } from '../core/handback.ts';
import { noteDelivered } from '../jobs/collected.ts';
import { observation } from '../jobs/observation.ts';
import { handbackSeen } from '../jobs/parts-seen.ts';
import { isEnded, type View } from '../jobs/view.ts';
import type { Waited } from '../jobs/wait.ts';
import { isoNow } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { lineOf } from './live-line.ts';
import { noticeNotes } from './notice-notes.ts';
import { pictureText } from './picture.ts';
import { type Collecting, waitAgain } from './wait-again.ts';

export function tellWoken(
  context: Pick<Context, 'isTerminal'>,
  root: StateRoot,
  views: View[],
  woken: NonNullable<Waited['woken']>,
  options: Collecting,
): Reply {
  const view = views.find((one) => one.id === woken.id);
  if (!view) throw new Error(`job ${woken.id} woke a wait that was not for it`);
  const ids = views.map((one) => one.id);
  const again = waitAgain(root, ids, options, new Map([[woken.id, woken.nextSeq]]));
  const document = observation(view, { afterSeq: null, root, waited: { wake: woken, next: again } });
  const afterPrint = (): void => noteDelivered(view, woken.nextSeq, options.until ?? []);
  if (options.isJson) {
    if (views.length === 1) return { code: exitCodes.pending, afterPrint, json: document };
    const pending = views.filter((one) => !isEnded(one.state)).map((one) => one.id);
    const head = { wake: woken.wake, id: woken.id, now: isoNow() };
    return { code: exitCodes.pending, afterPrint, json: { ...head, jobs: [document], pending, next: { wait: again } } };
  }
  const { seq } = woken.event;
  const what = seq === null ? woken.wake : `${woken.wake} (event ${seq})`;
  return {
    code: exitCodes.pending,
    afterPrint,
    out: `${pictureText(context, view, root, document)}${again}\n`,
    notes: [
      `woken by ${what}; ${lineOf(view)}; wait on with the last line`,
      ...whyLines(woken.event, view),
      ...noticeNotes(view),
    ],
  };
}

/** In words, for whoever does not read the document. */
function whyLines(event: NonNullable<Waited['woken']>['event'], view: View): string[] {
  if (event.type === 'handback') return handbackLines(event, view);
  const { reason, message, evidence, word, on_stall } = event as Record<string, unknown>;
  const why = [reason, event.type === 'checkpoint' ? undefined : message, evidence, word].find(isText);
  return [
    ...(isText(why) ? [`reason: ${lineFrom(why, 400)}`] : []),
    ...(isText(on_stall) ? [`on stall: ${lineFrom(on_stall, 1024)}`] : []),
  ];
}

/**
 * What was handed back, and where its answer is looked for. The journal lies where an agent may write: only the name is taken from
 * there, and no other path is ever named to somebody who is to write something.
 */
function handbackLines({ name, bytes, changed }: Record<string, unknown>, view: View): string[] {
  const dir = handbackSeen(view)?.dir;
  if (dir === undefined || typeof name !== 'string' || !isHandback(name)) return [];
  const size = typeof bytes === 'number' ? ` (${bytes} bytes)` : '';
  const answer = answerName(name);
  return [
    `${changed === true ? 'changed' : 'handed back'}: ${dir}/${name}${size}`,
    ...(answer === null ? [] : [`an answer goes into: ${dir}/${answer}`]),
  ];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function lineFrom(text: string, limit: number): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), limit);
}
