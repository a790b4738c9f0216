// What a woken caller reads of one thing that fired or is outstanding, as plain text in a few words. Everything that an agent may have written
// is bounded here.
import { formatAge, formatDuration } from '../core/duration.ts';
import type { JobEvent } from '../core/events.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { isHandback } from '../core/handback.ts';
import { quoteWords } from '../core/shell-words.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import type { OnWake } from '../jobs/on-wake.ts';
import type { Outstanding } from '../jobs/outstanding.ts';
import type { Question } from '../jobs/questions.ts';
import { dueWords } from '../jobs/timer-facts.ts';
import type { StateRoot } from '../store/layout.ts';
import { whatOf } from './status-what.ts';

type Fired = OnWake['fired'][number];

/** `done, exit 0, took 2m5s: build the site`. */
export function firedWords(fired: Fired): string {
  if (fired.wake !== 'terminal')
    return `${fired.wake}${fired.count > 1 ? ` (${countWords(fired)})` : ''}: ${eventsWords(fired)}`;
  const { state, spec } = fired.view;
  const word = spec?.timer && state.state === 'done' ? 'due' : state.state;
  const facts = [
    word,
    state.exit_code === null || state.exit_code === 0 ? null : `exit ${state.exit_code}`,
    state.duration_ms === null || spec?.timer ? null : `took ${formatDuration(state.duration_ms)}`,
    state.warnings.length === 0 ? null : counted(state.warnings.length, 'warning'),
  ];
  return `${facts.filter((one) => one !== null).join(', ')}: ${line(whatOf(fired.view), 120)}`;
}

function countWords({ wake, count, events }: Fired): string {
  if (wake !== 'handback') return `${count} of them, the newest`;
  return count > events.length ? `${count} files, the newest` : `${count} files`;
}

/** Of hand-backs each file has a name; of everything else the newest says it. */
function eventsWords({ events, wake }: Fired): string {
  if (wake === 'handback') return events.map((event) => eventWords(event)).join(', ');
  return events.length === 0 ? '' : eventWords(events.at(-1) as JobEvent);
}

function eventWords(event: JobEvent): string {
  const { name, reason, message, evidence, word } = event as Record<string, unknown>;
  const said = event.type === 'handback' ? [name] : [reason, message, evidence, word];
  return line(said.find((one): one is string => typeof one === 'string' && one.trim() !== '') ?? event.type, 120);
}

/** What is to be done about it; null when it was read, or is to be ignored. */
export function nextOfFired(fired: Fired, root: StateRoot): string | null {
  const { wake, late, view, id } = fired;
  // An agent that asks ends its turn: its files count also when it has ended.
  if (wake === 'handback') return late?.kind === 'duplicate' ? null : readFiles(fired);
  if (late !== null) return null;
  if (wake !== 'terminal') return nextCommands.observe(id, root.option);
  const isReminder = view.spec?.timer && view.state.state === 'done' && view.state.error === null;
  return isReminder ? null : nextCommands.result(id, root.option);
}

/** By the launcher's own word on where they lie; the job may have written the names. */
function readFiles({ events, view }: Fired): string | null {
  const dir = view.spec?.handback?.dir;
  const names = events
    .map(({ name }) => name)
    .filter((name): name is string => typeof name === 'string' && isHandback(name));
  if (typeof dir !== 'string' || names.length === 0) return null;
  return quoteWords(['cat', ...new Set(names.map((name) => `${dir}/${name}`))]);
}

/** What it is about. */
export function subjectWords({ view }: Outstanding): string {
  return line(whatOf(view), 120);
}

/** `running, progressing, 2h old, 22h left, worker alive, last event 3m ago`. */
export function standingWords(one: Outstanding): string {
  const { view, health, worker, lastEventMs, queue, leftMs } = one;
  const timer = view.spec?.timer;
  const facts = [
    one.condition === 'damaged' ? 'damaged' : view.state.state,
    queue === null ? null : queueWords(queue),
    timer ? `due ${dueWords(timer).split(', ').at(-1)}` : queue || health.health === 'unknown' ? null : health.health,
    `${formatAge(one.ageMs)} old`,
    leftMs === null || timer ? null : `${formatDuration(whole(leftMs))} left`,
    worker === 'not needed' ? null : `worker ${worker}`,
    lastEventMs === null ? null : `last event ${formatAge(lastEventMs)} ago`,
    heldWords(one),
    one.startedBy === null ? null : `started by ${one.startedBy}`,
  ];
  return facts.filter((fact) => fact !== null).join(', ');
}

function heldWords({ isAwaited, isBelow }: Outstanding): string {
  if (isAwaited) return 'a wait holds it';
  return isBelow ? 'its starter is there for it' : 'nobody waits';
}

function queueWords({ place, behind }: NonNullable<Outstanding['queue']>): string {
  const first = behind[0] === undefined ? '' : ` behind ${behind[0]}`;
  return `place ${place ?? 'unknown'}${first}${behind.length > 1 ? ` and ${behind.length - 1} more` : ''}`;
}

/** `question open: DIR/01-q.md, answer into DIR/01-answer-q.md`. */
export function questionWords({ file, isMissing, answer, trouble }: Question): string {
  if (trouble !== null) return `its questions cannot be seen: hand-back folder ${line(trouble, 400)}`;
  const where = answer === null ? 'answer in the next task' : `answer into ${answer}`;
  return plainText(
    `question open: ${file ?? 'in its final answer'}${isMissing ? ' (no such file)' : ''}, ${where}`,
  ).replace(/\s/g, ' ');
}

/** `1 warning`, `2 warnings`. */
function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** Why somebody should look; none for a job that is as it should be. */
export function concernWords({ health, late, condition, view }: Outstanding): string[] {
  const why = [
    condition === 'damaged' ? (view.damage ?? 'its record is damaged') : null,
    health.health === 'attention' ? `attention: ${health.reason ?? 'no reason was given'}` : null,
    late === null ? null : `late: ${late}`,
  ];
  return why.filter((one) => one !== null).map((one) => line(one, 240));
}

export function line(text: string, limit: number): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), limit);
}

function whole(ms: number): number {
  const step = ms < 600_000 ? 1000 : 60_000;
  return Math.max(1000, Math.floor(ms / step) * step);
}
