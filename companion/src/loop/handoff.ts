// handoff.md: what a reader without any memory needs to go on. Made anew from the state each time; its last line proves for which state.
import { oneLine } from '../core/byte-names.ts';
import type { LoopState, Milestone } from '../core/loop.ts';
import { stampLine } from './stamp.ts';

export interface HandoffExtra {
  risks: readonly string[];
  /** Paths that the next reader should open first. */
  keyFiles: readonly string[];
  /** More about the next step. */
  next: readonly string[];
}

export const handoffHeads = ['Goal', 'Completed', 'Next step', 'Risks', 'Verify and key files'] as const;
const doneShown = 30;

export function makeHandoff(state: LoopState, extra: HandoffExtra): string {
  const next = state.milestones.find(({ status }) => status !== 'done');
  const bodies = [
    // It begins a line, where `## ` would be a heading.
    oneLine(state.goal).replace(/^(?=[#<-])/, '\\'),
    completedText(state),
    nextText(next, extra.next),
    listText(extra.risks, 'none told'),
    verifyText(state, extra.keyFiles),
  ];
  const sections = handoffHeads.map((head, index) => `## ${head}\n\n${bodies[index]?.trimEnd()}\n`);
  return `# Handoff\n\nAfter iteration ${state.iteration}. Written by job-companion; \`loop status\` reads it.\n\n${sections.join('\n')}\n${stampLine(state)}\n`;
}

function completedText({ milestones, iteration }: LoopState): string {
  const done = milestones.filter(({ status }) => status === 'done');
  const left = milestones.length - done.length;
  const rows = done.slice(-doneShown).map(({ id, title }) => `- ${id}: ${oneLine(title)}`);
  const earlier = done.length > doneShown ? [`- ${done.length - doneShown} earlier ones: see state.json`] : [];
  return [
    `${done.length} of ${milestones.length} milestones, ${left} left, ${iteration} iterations.`,
    '',
    ...earlier,
    ...rows,
  ].join('\n');
}

function nextText(next: Milestone | undefined, more: readonly string[]): string {
  if (!next) return 'All milestones are done: run the gate.';
  const risk = next.risk === 'risky' ? ['', 'It is risky: it needs the verdict of a review job before GO.'] : [];
  return [
    `${next.id}: ${oneLine(next.title)}`,
    '',
    'Acceptance:',
    '',
    listText(acceptanceOf(next), 'none: state it before work begins').trimEnd(),
    ...risk,
    ...(more.length > 0 ? ['', listText(more, '').trimEnd()] : []),
  ].join('\n');
}

function verifyText({ verify }: LoopState, keyFiles: readonly string[]): string {
  const commands = verify.map(({ name, cmd }) => `${oneLine(name)}: \`${oneLine(cmd)}\``);
  return `Verify:\n\n${listText(commands, 'no command yet')}\nKey files:\n\n${listText(keyFiles, 'none told')}`;
}

export function acceptanceOf({ acceptance }: Milestone): string[] {
  return (Array.isArray(acceptance) ? acceptance : [acceptance]).map(oneLine).filter((line) => line !== '');
}

function listText(lines: readonly string[], none: string): string {
  return (lines.length === 0 ? [none] : lines).map((line) => `- ${oneLine(line)}\n`).join('');
}

/** What the handoff that stands there tells beside the state, so that a new one keeps it. */
export function extraOf(text: string | undefined): HandoffExtra {
  const risks = listUnder(text, 'Risks').filter((line) => line !== 'none told');
  const keyFiles = listUnder(text, 'Verify and key files', 'Key files:').filter((line) => line !== 'none told');
  return { risks, keyFiles, next: [] };
}

function listUnder(text: string | undefined, head: string, after?: string): string[] {
  const section = text?.split(`\n## ${head}\n`)[1]?.split('\n## ')[0] ?? '';
  const part = after === undefined ? section : (section.split(`\n${after}\n`)[1] ?? '');
  return part.split('\n').flatMap((line) => /^- (.+)$/.exec(line)?.[1] ?? []);
}
