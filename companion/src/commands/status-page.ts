// The page of `status ID`: the facts, the next commands, and what the job said last. Of an agent that is its calls and its text, never
// the events of its stream.
import { formatDuration } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Health } from '../core/job.ts';
import { failedNotice } from '../jobs/notice-seen.ts';
import { observation } from '../jobs/observation.ts';
import { progressOf } from '../jobs/progress-seen.ts';
import { oneLine, taskWords } from '../jobs/run-report.ts';
import { staffFacts } from '../jobs/staff-facts.ts';
import { dueWords } from '../jobs/timer-facts.ts';
import { isEnded, type View } from '../jobs/view.ts';
import { isoNow } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import { readLogTail } from '../store/output-log.ts';
import { hasQueue } from '../store/turn.ts';
import { handbackLine, progressLine, queueLine, watchLine } from './standing-lines.ts';
import { endedOf, healthWord, ownerOf, timeOf } from './status-table.ts';
import { whatOf } from './status-what.ts';

export function pageOf(view: View, root: StateRoot): string {
  return `${[factsOf(view, root), ...saidLast(view)].filter((part) => part !== '').join('\n\n')}\n`;
}

function factsOf(view: View, root: StateRoot): string {
  const { state, spec } = view;
  const seen = observation(view, { afterSeq: null, root }) as {
    health: Health;
    reason?: string;
    next: Record<string, string>;
  };
  const ended = endedOf(view);
  const lines: [string, string | null][] = [
    ['id', view.id],
    ['state', state.state],
    ['health', isEnded(state) ? null : `${healthWord(seen.health)}${seen.reason ? ` (${seen.reason})` : ''}`],
    ['queue', queueLine(view)],
    ['on stall', onStallOf(view, seen.health)],
    ['progress', isEnded(state) ? null : progressLine(view)],
    ['watch', watchLine(view)],
    ['hand-back', handbackLine(view)],
    ['notify', failedNotice(view)],
    ['error', state.error ? `${state.error.code}: ${plainText(state.error.message)}` : null],
    ['exit code', state.exit_code === null ? null : String(state.exit_code)],
    ['task', taskOf(view)],
    ['time', `${timeOf(view)}${ended === null ? '' : `, ended ${ended}`}`],
    ['now', isoNow()],
    ['owner', spec?.owner ? ownerOf(view) : null],
    ['milestone', spec?.milestone ? plainText(spec.milestone) : null],
    ['backend', agentOf(view)],
    ['due', spec?.timer ? dueWords(spec.timer) : null],
    ['slot', spec?.timer?.slot ? plainText(spec.timer.slot) : null],
    ['what', whatOf(view)],
    ['folder', spec?.cwd ? plainText(spec.cwd) : null],
    ['limit', limitOf(view)],
    ['output', spec?.kind === 'run' ? view.paths.output : null],
    ['log', spec?.run?.log ? plainText(spec.run.log) : null],
    ['conversation', state.conversation ? excerpt(plainText(state.conversation.id), 200) : null],
    ...state.warnings.map((one): [string, string] => ['warning', plainText(one.message)]),
    ...Object.entries(seen.next).map(([name, command]): [string, string] => [name, command]),
  ];
  return lines
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`)
    .join('\n');
}

/** Of a run under a launcher that detaches: the task that it watches over, and the launcher's word on it at the end. */
function taskOf({ spec, state }: View): string | null {
  const identity = spec?.run?.identity;
  if (!identity) return null;
  return isEnded(state) ? `${oneLine(identity)}: ${taskWords(state)}` : oneLine(identity);
}

/** What was decided at launch, as long as it is wanted. */
function onStallOf({ spec, state }: View, health: string): string | null {
  if (isEnded(state) || health !== 'attention' || !spec?.on_stall) return null;
  return excerpt(plainText(spec.on_stall).replace(/\s+/g, ' ').trim(), 1024);
}

/** A bounded wait can be told from a server that nobody ends. */
function limitOf({ spec, state }: View): string | null {
  if (!spec || spec.timer || isEnded(state) || typeof spec.deadline_ms !== 'number') return null;
  return `${formatDuration(spec.deadline_ms)} from ${hasQueue(spec) ? 'its turn' : 'launch'}`;
}

function agentOf({ spec }: View): string | null {
  const { backend, profile, model } = staffFacts(spec);
  if (backend === null) return null;
  return [backend, `profile ${profile}`, ...(model === null ? [] : [`model ${model}`])].join(', ');
}

function saidLast(view: View): string[] {
  const { paths, spec, state } = view;
  const tails = (...files: string[]): string[] =>
    files.map((file) => plainText(readLogTail(file).toString('utf8')).trimEnd());
  if (!spec?.staff) return tails(paths.output, paths.error);
  // Answer or report: the report has the end of stderr in it.
  if (isEnded(state)) return tails(paths.result);
  return [...liveLines(view), ...tails(paths.error)];
}

/** The snapshot lies where an agent may write: what has lost its form is left out. */
function liveLines(view: View): string[] {
  const { tools, text } = progressOf(view) as { tools?: unknown; text?: unknown };
  const calls = Array.isArray(tools) ? tools.map(callLine).filter((line) => line !== null) : [];
  return [calls.join('\n'), typeof text === 'string' ? plainText(text).trim() : ''];
}

function callLine(call: { name?: unknown; input?: unknown; status?: unknown } | null): string | null {
  if (typeof call?.name !== 'string') return null;
  const input = typeof call.input === 'string' ? ` ${call.input}` : '';
  const status = typeof call.status === 'string' ? ` [${call.status}]` : '';
  return plainText(`- ${call.name}${input}${status}`).replace(/\s+/g, ' ');
}
