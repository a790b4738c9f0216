// The loop on one page, for a reader without memory: handoff first, state second, the newest entries third (S3.6, S3.31).
import { excerpt, plainText } from '../core/excerpt.ts';
import { loopLimits } from '../core/limits-loop.ts';
import type { LoopState } from '../core/loop.ts';
import { holderText } from './begin.ts';
import { nextMilestone } from './files.ts';
import { lastEntries, readJournal } from './journal.ts';
import type { LoopPlace } from './place.ts';
import { readHandoff } from './rewrite.ts';

const doneShown = 3;
const lineBytes = 500;
const stateBytes = 160;

/** The next step must not fall off the end behind a long list of what is done: that list gives way first. */
export function handoffLines(place: LoopPlace, most: number): string[] {
  const text = readHandoff(place);
  if (text === undefined) return ['there is no handoff.md'];
  const lines = text.trimEnd().split('\n');
  return bounded(lines.length > most ? shortened(lines) : lines, most, place.handoff);
}

function shortened(lines: readonly string[]): string[] {
  const from = lines.indexOf('## Completed');
  const to = lines.findIndex((line, at) => at > from && line.startsWith('## '));
  const rows = lines.flatMap((line, at) => (at > from && at < to && line.startsWith('- ') ? [at] : []));
  const gone = from < 0 ? [] : rows.slice(0, -doneShown);
  if (gone.length === 0) return lines.filter((line) => line !== '');
  const kept = lines.flatMap((line, at) =>
    at === gone[0] ? [`- [${gone.length} earlier lines]`] : gone.includes(at) ? [] : [line],
  );
  return kept.filter((line) => line !== '');
}

export function stateLines(state: LoopState): string[] {
  const done = state.milestones.filter(({ status }) => status === 'done').length;
  const next = nextMilestone(state);
  const working = state.milestones.filter(({ status }) => status === 'in_progress');
  const { iterations_max: most } = state.budget;
  return [
    `goal: ${state.goal}`,
    `iteration ${state.iteration}${most === null ? '' : ` of at most ${most}`}, ${done} of ${state.milestones.length} milestones done`,
    next ? `next: ${next.id} (${next.status}): ${next.title}` : 'next: none, all are done',
    ...(working.length === 1 ? [`in progress: ${working[0]?.id}, held by ${holderText(state)}`] : []),
    ...(working.length > 1 ? [`CONFLICT: two in progress: ${working.map(({ id }) => id).join(', ')}`] : []),
    ...(state.gate ? [`last gate: ${state.gate.verdict} in iteration ${state.gate.iteration}, ${state.gate.at}`] : []),
    ...(state.remediation_rounds > 0
      ? [`NO-GO ${state.remediation_rounds} times in this iteration (${loopLimits.remediationRounds + 1} stop it)`]
      : []),
    ...(state.stopped ? [`STOPPED: ${state.stopped.reason}: ${state.stopped.detail}`] : []),
  ].map((line) => excerpt(fit(line), stateBytes));
}

/** The newest entries; when they are too long, their end, and a word that something is missing. */
export function entryLines(place: LoopPlace, most: number): string[] {
  const entries = lastEntries(readJournal(place.journal) ?? '', loopLimits.resumeEntries);
  if (entries.length === 0) return ['no entry yet'];
  const lines = entries
    .flatMap(({ text }) => text.split('\n').filter((line) => line.trim() !== ''))
    .map((line) => fit(line));
  return lines.length <= most ? lines : [`[${lines.length - most + 1} earlier lines]`, ...lines.slice(1 - most)];
}

/** `whole` names where the rest can be read. */
export function bounded(given: readonly string[], most: number, whole?: string): string[] {
  const lines = given.map((line) => fit(line));
  if (lines.length <= most) return lines;
  const rest = `[${lines.length - most + 1} more lines${whole === undefined ? '' : `: ${whole}`}]`;
  return [...lines.slice(0, most - 1), rest];
}

/** Acceptance that is cut off in the middle would be another acceptance, and half a command none: only what is absurdly long ends early. */
function fit(line: string): string {
  return excerpt(plainText(line).replaceAll('\n', ' '), lineBytes);
}
