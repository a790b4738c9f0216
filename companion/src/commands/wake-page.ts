// `reconcile` as text: at most 40 rows of a terminal with 80 columns, whatever there is. A sentence that is longer is broken or cut, a command never: it
// takes the rows that it needs. What found no room is counted, with the command that shows it.
import { formatAge, formatDuration } from '../core/duration.ts';
import { wakePage as page } from '../core/limits.ts';
import { nextCommand, nextCommands } from '../jobs/next-commands.ts';
import type { OnWake } from '../jobs/on-wake.ts';
import { othersLive } from '../jobs/others-live.ts';
import { cutToWidth } from '../output/width.ts';
import { rowsOf as rows, wrap } from '../output/wrap.ts';
import { isoOf, localOf } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import { questionLines } from './wake-questions.ts';
import { concernWords, firedWords, line, nextOfFired, standingWords, subjectWords } from './wake-words.ts';

export function wakePage(seen: OnWake, root: StateRoot): string {
  const others = seen.outstanding.length === 0 ? othersLive(root.folder, seen.owner) : null;
  const told = others === null ? [] : wrap(others, page.columns);
  const clock = [...clockLines(seen, root), ...restartLines(seen), ...told];
  const least = rowsOf(clock) + rowsOf(footOf(seen, root, { fired: 0, open: 0, named: 0 })) + headings + 2;
  const questions = questionLines(seen.questions, Math.floor((page.rows - least) / 2));
  const head = [...clock, ...questions];
  const named = namedAtMost(seen, root, page.rows - least - rowsOf(questions) - kept);
  // The words that count what was left out take a row more than those that do not.
  const room = page.rows - rowsOf(head) - rowsOf(footOf(seen, root, { fired: 0, open: 0, named })) - headings - 2;
  const open = seen.outstanding.map((one) => [
    cut(`  ${one.view.id}  ${subjectWords(one)}`),
    ...below(standingWords(one)),
    ...concernWords(one).flatMap(below),
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
    ...footOf(seen, root, {
      fired: fired.length - shownFired.length,
      open: open.length - shownOpen.length,
      named,
    }),
  ];
  return `${lines.join('\n')}\n`;
}

const headings = 2;
/** Rows for one thing that is outstanding, however much else there is. */
const kept = 6;

function clockLines(seen: OnWake, root: StateRoot): string[] {
  const { nowMs, last, owner } = seen;
  const ago = last === null ? 'the first look' : `last look ${formatAge(nowMs - last.at_ms)} ago`;
  const where = seen.isThere
    ? `what is true stands in ${root.folder}`
    : `nothing was ever started here: there is no ${root.folder}`;
  return [
    ...wrap(`now ${isoOf(nowMs).slice(0, 19)}Z, local ${localOf(nowMs)}; ${ago}`, page.columns),
    ...wrap(`${owner === null ? 'jobs of everybody' : `owner ${line(owner, 60)}`}; ${where}`, page.columns),
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
  return lines.filter((one) => one !== null).flatMap((one) => wrap(one, page.columns));
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
    ...(one.late === null ? [] : below(`${one.late.kind === 'replaced' ? 'late' : one.late.kind}: ${one.late.words}`)),
    ...(one.startedBy === null ? [] : below(`started by ${one.startedBy}`)),
    ...(next === null ? [] : [`    ${next}`]),
  ];
}

/** So many results can be named in these rows. */
function namedAtMost({ uncollected }: OnWake, root: StateRoot, rowsLeft: number): number {
  const commands = uncollected.slice(0, page.named).map((id) => [`    ${nextCommands.result(id, root.option)}`]);
  return fit(commands, Math.max(rowsLeft, commands[0] ? rowsOf(commands[0]) : 0)).length;
}

/** How many that fired or are outstanding found no room, and how many unread results are named. */
interface Left {
  fired: number;
  open: number;
  named: number;
}

function footOf(seen: OnWake, root: StateRoot, { fired, open, named }: Left): string[] {
  const { owner, nextSeq, uncollected, older, isKept } = seen;
  const whose = owner === null ? [] : ['--owner', owner];
  const left = [
    fired > 0 ? `${fired} that fired` : null,
    open > 0 ? `${open} outstanding` : null,
    older > 0 ? `${older} older ones` : null,
  ].filter((one) => one !== null);
  const unread = uncollected.slice(0, named);
  const newest = uncollected.length > unread.length ? `; the newest ${unread.length}:` : '';
  return [
    ...(uncollected.length === 0
      ? []
      : [
          `ended earlier and not read yet: ${uncollected.length}${newest}`,
          ...unread.map((id) => `    ${nextCommands.result(id, root.option)}`),
        ]),
    ...(left.length === 0
      ? []
      : [`left out: ${left.join(', ')}; see`, `    ${nextCommand(root.option, 'status', ...whose)}`]),
    ...(seen.wait === null ? [] : ['one wait for all that nobody waits for:', `    ${seen.wait}`]),
    ...(seen.outstanding.length === 0
      ? []
      : ['the last thing before going idle:', `    ${nextCommand(root.option, 'idle-check', ...whose)}`]),
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
  return rows(lines, page.columns);
}

/** A sentence below what it is about, broken at spaces; a word that is longer than a row is cut. */
function below(text: string): string[] {
  return wrap(text, page.columns - 4).map((part) => cut(`    ${part}`));
}

function cut(text: string): string {
  return cutToWidth(text, page.columns);
}
