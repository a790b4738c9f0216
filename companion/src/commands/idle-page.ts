// The page of `idle-check`: the answer, then what is wrong with the commands that put it right, then what is well. One screen: what does
// not fit is counted.
import { excerpt, plainText } from '../core/excerpt.ts';
import { idleLines } from '../core/limits.ts';
import { type IdleReport, isFaulty, type JudgedJob, type JudgedTimer, type Missing } from '../jobs/idle.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import type { View } from '../jobs/view.ts';
import { cutToWidth } from '../output/width.ts';
import { wrap } from '../output/wrap.ts';
import { isoNow } from '../platform/clock.ts';
import { backstopWords, deliveryWords } from './idle-words.ts';
import { whatOf } from './status-what.ts';

export function idlePage(report: IdleReport, owner: string | null, option: readonly string[]): string {
  const { jobs, timers, unreadable, uncollected } = report;
  const blocks = [
    ...unreadable.map((one) => [
      `${one.id}  cannot be read: ${excerpt(plainText(one.reason), 200)}`,
      `  see:      ${nextCommands.doctor(one.id, one.option)}`,
    ]),
    ...jobs.filter(isFaulty).map(faultyBlock),
    ...timers.filter(({ isFault }) => isFault).map(timerBlock),
    ...jobs
      .filter((job) => !isFaulty(job))
      .sort(lateFirst)
      .map(jobLines),
    ...timers.filter(({ isFault }) => !isFault).map(timerBlock),
  ];
  const head = [...wrap(answerOf(report, owner), 80), `now ${isoNow()}`];
  if (owner === null && [...jobs, ...timers].some((one) => one.owner !== null))
    head.push("these are everybody's jobs; for those of one owner: idle-check --owner NAME");
  if (report.others !== null) head.push(...wrap(report.others, 80));
  if (report.next !== null)
    head.push('one command for all of it (to be left running in the background):', `  ${report.next}`);
  const foot = belowLines(report.below);
  foot.push(...collectLines(uncollected, report.isMore, option));
  return `${[...head, ...fitted(blocks, idleLines - head.length - foot.length), ...foot].join('\n')}\n`;
}

/** The one sentence; also the `reason` of the document. */
export function answerOf(report: IdleReport, owner: string | null): string {
  return `${answer(report, owner)}${report.isSafe ? orphanWords(report.orphans) : ''}`;
}

/** They live, and wake nobody perhaps: that no look from here can tell. */
function orphanWords(orphans: number): string {
  if (orphans === 0) return '';
  const who = orphans === 1 ? 'was left alone by whoever started it' : 'were left alone by whoever started them';
  return `, but ${orphans} of the waits ${who}: perhaps nobody hears ${orphans === 1 ? 'it' : 'them'} end`;
}

function answer(report: IdleReport, owner: string | null): string {
  const { jobs, timers, unreadable } = report;
  const whose = owner === null ? '' : ` (owner ${excerpt(plainText(owner), 60).replace(/\s+/g, ' ')})`;
  if (report.isSafe) {
    if (jobs.length + timers.length === 0) return `safe to go idle: nothing is live${whose}`;
    if (jobs.length === 0) return `safe to go idle: ${timers.length} timer armed, and somebody is there for it${whose}`;
    const each = jobs.length === 1 ? 'it has' : 'each has';
    return `safe to go idle: ${count(jobs.length, 'live job')}, ${each} a live delivery and a backstop${whose}`;
  }
  const faults = [
    ...jobFaults(jobs),
    ...(timers.some(({ isExtra }) => isExtra) ? ['more than one armed timer in a window'] : []),
    ...(timers.some(({ isExtra, isFault }) => isFault && !isExtra) ? ['a timer that would wake nobody'] : []),
    ...(unreadable.length > 0 ? [`${count(unreadable.length, 'job')} that cannot be read`] : []),
  ];
  return `NOT safe to go idle: ${faults.join(', ')}${whose}`;
}

function jobFaults(jobs: readonly JudgedJob[]): string[] {
  const having = (...what: Missing[]): number =>
    jobs.filter(({ missing }) => what.every((one) => missing.includes(one))).length;
  const neither = having('delivery', 'backstop');
  const counts: [number, string][] = [
    [neither, 'with neither delivery nor backstop'],
    [having('delivery') - neither, 'with no live delivery'],
    [having('backstop') - neither, 'with no backstop'],
    [having('handback') - having('delivery', 'handback'), 'whose hand-backs nobody hears'],
    [having('attention'), 'that nobody looks after as it should be'],
  ];
  return counts.flatMap(([number, words]) =>
    number === 0 ? [] : [`${number} of ${count(jobs.length, 'live job')} ${words}`],
  );
}

function faultyBlock(job: JudgedJob): string[] {
  return [
    ...jobLines(job),
    ...(job.next === null ? [] : [`  arm it:   ${job.next}`]),
    ...(job.mend === null ? [] : [`  mend it:  ${job.mend}`]),
  ];
}

function jobLines({ view, owner, deliveries, backstop, missing, trouble, late }: JudgedJob): string[] {
  const { state } = view;
  const place = state.state === 'queued' && state.queue ? `, place ${state.queue.place}` : '';
  const isSame = backstop?.by === 'wait' && deliveries.waiters.length === 1 && deliveries.notifier === null;
  const orphans = deliveries.waiters.filter(({ isOrphan }) => isOrphan);
  return [
    headLine(view, `${state.state}${state.health === 'attention' ? '!' : ''}${place}`, owner),
    ...below('delivery', deliveryWords(deliveries)),
    ...below('backstop', isSame ? 'the same wait' : backstopWords(backstop)),
    ...(missing.includes('handback') ? below('handback', 'nobody would hear it: no wait has --until handback') : []),
    ...(late === null ? [] : below('late', late)),
    ...(trouble ? below('worker', trouble.reason) : []),
    ...orphans.flatMap(({ identity }) =>
      below('warning', `whoever started wait ${identity.pid} is gone: perhaps nobody hears it end`),
    ),
  ];
}

function timerBlock({ view, owner, deliveries, isDelivered, isExtra, next }: JudgedTimer): string[] {
  const idle = `${deliveryWords(deliveries)}: it wakes nobody, and is no backstop`;
  return [
    headLine(view, 'armed', owner),
    ...below('delivery', isDelivered ? deliveryWords(deliveries) : idle),
    ...(isExtra ? below('backstop', 'one too many: another timer of this owner is armed') : []),
    ...(next === null ? [] : [`  ${isExtra ? 'cancel: ' : 'arm it: '}  ${next}`]),
  ];
}

function headLine(view: View, word: string, owner: string | null): string {
  const whose = owner === null ? '' : `  (${excerpt(plainText(owner).replace(/\s+/g, ' '), 30)})`;
  return cutToWidth(`${view.id}  ${word}${whose}  ${whatOf(view)}`, 80);
}

function below(label: string, text: string): string[] {
  const lines = wrap(plainText(text).replace(/\s+/g, ' '), 68);
  return lines.map((line, at) => `  ${(at === 0 ? `${label}:` : '').padEnd(10)}${line}`);
}

/** As many whole blocks as there is room for, at least one. */
function fitted(blocks: readonly string[][], room: number): string[] {
  const lines: string[] = [];
  for (const [at, block] of blocks.entries()) {
    if (at > 0 && lines.length + block.length + 2 > room) {
      lines.push('', `and ${count(blocks.length - at, 'more job')}; see idle-check --json`);
      break;
    }
    lines.push('', ...block);
  }
  return lines;
}

function lateFirst(a: JudgedJob, b: JudgedJob): number {
  return Number(b.late !== null) - Number(a.late !== null);
}

function belowLines(number: number): string[] {
  if (number === 0) return [];
  const whose =
    number === 1
      ? 'is the business of the live job that started it'
      : 'are the business of the live jobs that started them';
  return ['', `${count(number, 'more live job')} ${whose}`];
}

function collectLines(views: readonly View[], isMore: boolean, option: readonly string[]): string[] {
  const [newest] = views;
  if (!newest) return [];
  const number = `${views.length}${isMore ? ' or more' : ''}`;
  const lines = views
    .slice(0, 3)
    .map(({ id, state, spec }) => `  ${id}  ${spec?.timer && state.state === 'running' ? 'due' : state.state}`);
  const rest = views.length > 3 ? [`  and ${views.length - 3}${isMore ? ' or more' : ''} others`] : [];
  return [
    '',
    `finished, and collected by nobody: ${number}`,
    ...lines,
    ...rest,
    `  ${nextCommands.result(newest.id, option)}`,
  ];
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
