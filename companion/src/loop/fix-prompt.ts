// What an agent is told when its milestone is not right yet. What checks found comes from the repository: plain and bounded.
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Fix } from '../core/loop.ts';
import type { Position } from './position.ts';

const most = 20;

export function deficiencyPrompt({ milestone, round }: Position, fixes: readonly Fix[]): string {
  const lines = fixes.slice(0, most).map(({ check, what, command }) => {
    const how = command ? ` (${line(command)})` : '';
    return `- ${check}: ${line(what)}${how}`;
  });
  const more = fixes.length > most ? [`- and ${fixes.length - most} more`] : [];
  return [
    `Milestone ${milestone} is not right yet (round ${round + 1} of mending). What was found:`,
    '',
    ...lines,
    ...more,
    '',
    'Mend exactly this, run the whole suite, and end your turn when it passes. Do not weaken or remove tests. Do not touch `.loop/`.',
    'Do not commit: that is done for you.',
    '',
  ].join('\n');
}

function line(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), 1000);
}
