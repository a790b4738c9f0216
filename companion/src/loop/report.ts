// What a loop job tells at its end: how it ended, and where the loop stands. What the state says is the repository's: plain and bounded.
import { excerpt, plainText } from '../core/excerpt.ts';
import { readLoop } from './files.ts';
import type { LoopPlace } from './place.ts';
import type { Position } from './position.ts';
import type { LoopEnd } from './steps.ts';

const shown = 50;

export function loopReport(place: LoopPlace, position: Position, end: LoopEnd | undefined): string {
  const read = readLoop(place);
  const lines = [end ? `Loop ${endWords[end.end]}: ${line(end.detail)}` : 'The loop was broken off.', ''];
  if (read.kind !== 'ok') return `${[...lines, `${place.folder} cannot be read any more.`].join('\n')}\n`;
  const { milestones, iteration, goal } = read.state;
  const done = milestones.filter(({ status }) => status === 'done').length;
  lines.push(`Goal: ${line(goal)}`, `${done} of ${milestones.length} milestones done, ${iteration} iterations.`);
  if (position.milestone && end?.end !== 'done')
    lines.push(`Last step: ${position.step}, milestone ${position.milestone}, round ${position.round}.`);
  const marks = { done: 'x', in_progress: '>', pending: ' ' };
  const rows = milestones.slice(0, shown).map(({ id, title, status }) => `[${marks[status]}] ${id}: ${line(title)}`);
  lines.push('', ...rows, ...(milestones.length > shown ? [`and ${milestones.length - shown} more`] : []));
  return `${lines.join('\n')}\n`;
}

const endWords = { done: 'finished', stopped: 'stopped', failed: 'failed' };

function line(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), 500);
}
