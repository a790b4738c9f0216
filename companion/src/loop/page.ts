// The loop on one page, for a reader without memory: handoff first, state second, the newest entries third (S3.6, S3.31).
import { plainText } from '../core/excerpt.ts';
import { loopLimits } from '../core/limits-loop.ts';
import type { LoopState } from '../core/loop.ts';
import { holderText } from './begin.ts';
import { nextMilestone } from './files.ts';
import { lastEntries, readJournal } from './journal.ts';
import type { LoopPlace } from './place.ts';
import { readHandoff } from './rewrite.ts';

const width = 160;

export function handoffLines(place: LoopPlace, most: number): string[] {
  return bounded((readHandoff(place) ?? 'there is no handoff.md').trimEnd().split('\n'), most);
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
  ].map(fit);
}

export function entryLines(place: LoopPlace, most: number): string[] {
  const entries = lastEntries(readJournal(place.journal) ?? '', loopLimits.resumeEntries);
  const lines = entries.flatMap(({ text }) => text.split('\n').filter((line) => line.trim() !== ''));
  return lines.slice(-most).map(fit);
}

export function bounded(lines: readonly string[], most: number): string[] {
  if (lines.length <= most) return lines.map(fit);
  return [...lines.slice(0, most - 1).map(fit), `[${lines.length - most + 1} more lines]`];
}

function fit(line: string): string {
  const plain = plainText(line).replaceAll('\n', ' ');
  return plain.length > width ? `${plain.slice(0, width - 3)}...` : plain;
}
