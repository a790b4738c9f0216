// `reconcile` as text: at most 40 rows of a terminal with 80 columns, whatever there is. A sentence that is longer is broken or cut, a command never: it
// takes the rows that it needs. What found no room is counted, with the command that shows it.
import { formatAge, formatDuration } from '../core/duration.ts';
import { wakePage as page } from '../core/limits.ts';
import { nextCommand, nextCommands } from '../jobs/next-commands.ts';
import type { OnWake } from '../jobs/on-wake.ts';
import { cutToWidth, widthOf } from '../output/width.ts';
import { wrap } from '../output/wrap.ts';
import { isoOf, localOf } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import { concernWords, firedWords, line, nextOfFired, standingWords, subjectWords } from './wake-words.ts';

export function wakePage(seen: OnWake, root: StateRoot): string {
  const head = [...clockLines(seen, root), ...restartLines(seen)];
  const foot = footOf(seen, root, 0, 0);
  // The words that count what was left out take a row more than those that do not.
  const room = page.rows - rowsOf(head) - rowsOf(foot) - headings - 2;
  const open = seen.outstanding.map((one) => [
    cut(`  ${one.view.id}  ${subjectWords(one)}`),
    ...wrap(standingWords(one), page.columns - 4).map((text) => cut(`    ${text}`)),
    ...concernWords(one).map((why) => cut(`    ${why}`)),
    `    ${one.next}`,
  ]);
  const fired = seen.fired.map((one) => firedLines(one, seen.nowMs, root)).reverse();
  const firedRows = Math.min(rowsOf(fired.flat()), Math.floor(room / 2));
  const shownOpen = fit(open, room - firedRows);
  const shownFired = fit(fired, room - rowsOf(shownOpen.flat())).reverse();
  const lines = [
    ...head,
    seen.fired.length === 0 ? 'fired since: nothing' : `fired since, the newest last (${seen.fired.length}):`,
    ...shownFired.flat(),
    open.length === 0 ? 'outstanding: nothing' : `outstanding (${open.length}):`,
    ...shownOpen.flat(),
    ...footOf(seen, root, fired.length - shownFired.length, open.length - shownOpen.length),
  ];
  return `${lines.join('\n')}\n`;
}

const headings = 2;

function clockLines(seen: OnWake, root: StateRoot): string[] {
  const { nowMs, last, owner } = seen;
  const ago = last === null ? 'the first look' : `last look ${formatAge(nowMs - last.at_ms)} ago`;
  const where = seen.isThere
    ? `what is true stands in ${root.folder}`
    : `nothing was ever started here: there is no ${root.folder}`;
  return [
    `now ${isoOf(nowMs).slice(0, 19)}Z, local ${localOf(nowMs)}; ${ago}${owner === null ? '' : ' of this owner'}`,
    cut(`${owner === null ? 'jobs of everybody' : `owner ${line(owner, 60)}`}; ${where}`),
  ];
}

function restartLines({ restarted, changes, lost, setBackMs, isBeyond }: OnWake): string[] {
  const lines = [
    restarted === 'since_look' ? '! the machine was restarted since the last look' : null,
    restarted === 'since_launch' ? '! the machine was restarted since one of these jobs was started' : null,
    setBackMs > 0
      ? `! the clock was set back by ${formatDuration(setBackMs)}; some of this may have been told before`
      : null,
    isBeyond ? '! the number to start from lies in the future (was the clock set back?): all is told' : null,
    ...listed(changes, ({ id, type, count }) => {
      const what = type === 'worker_replaced' ? 'its worker was lost and replaced' : 'its worker failed by itself';
      return `! ${id}: ${what}${count > 1 ? ` (${count} times)` : ''}`;
    }),
    ...listed(lost, ({ id, code }) => `! ${id}: crashed, ${code}`),
  ];
  return lines.filter((one) => one !== null).map(cut);
}

function listed<T>(list: T[], words: (one: T) => string): string[] {
  const shown = list.slice(-restartsShown).map(words);
  return list.length > restartsShown ? [...shown, `! and ${list.length - restartsShown} more like these`] : shown;
}

const restartsShown = 3;

function firedLines(one: OnWake['fired'][number], nowMs: number, root: StateRoot): string[] {
  const next = nextOfFired(one, root);
  return [
    cut(`  ${`${formatAge(nowMs - one.atMs)} ago`.padEnd(8)} ${one.id}  ${firedWords(one)}`),
    ...(one.late === null
      ? []
      : [cut(`    ${one.late.kind === 'replaced' ? 'late' : one.late.kind}: ${one.late.words}`)]),
    ...(next === null ? [] : [`    ${next}`]),
  ];
}

function footOf(seen: OnWake, root: StateRoot, fired: number, open: number): string[] {
  const { owner, nextSeq, uncollected, older, isKept } = seen;
  const whose = owner === null ? [] : ['--owner', owner];
  const left = [
    fired > 0 ? `${fired} that fired` : null,
    open > 0 ? `${open} outstanding` : null,
    older > 0 ? `${older} older ones` : null,
  ].filter((one) => one !== null);
  const unread = uncollected.length;
  return [
    ...(unread === 0
      ? []
      : [
          `ended earlier and not read yet: ${unread}; the newest with`,
          `    ${nextCommands.result(uncollected[0] as string, root.option)}`,
        ]),
    ...(left.length === 0
      ? []
      : [`left out: ${left.join(', ')}; see`, `    ${nextCommand(root.option, 'status', ...whose)}`]),
    isKept || !seen.isThere ? 'next time:' : 'next time (where this look stood could not be stored: give the number):',
    `    ${nextCommand(root.option, 'reconcile', ...whose, '--since', String(nextSeq))}`,
  ];
}

/** As many whole entries as there is room for, from the first on. */
function fit(entries: string[][], rows: number): string[][] {
  let left = rows;
  const at = entries.findIndex((entry) => {
    left -= rowsOf(entry);
    return left < 0;
  });
  return at < 0 ? entries : entries.slice(0, at);
}

function rowsOf(lines: readonly string[]): number {
  return lines.reduce((sum, one) => sum + Math.max(1, Math.ceil(widthOf(one) / page.columns)), 0);
}

function cut(text: string): string {
  return cutToWidth(text, page.columns);
}
