// The questions of a boundary for an agent that judges, and its answer read back. What it says is data: only yes or no with a reason counts, for
// what was asked.
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Question } from '../core/loop.ts';
import { parseJudgment } from './judge.ts';

export function judgePrompt(questions: readonly Question[]): string {
  const rows = questions.map(({ id, question }) => `- ${id}: ${line(question)}`);
  const example = JSON.stringify({ answers: { E1: { holds: true, why: 'one sentence' } } });
  return [
    'You judge the boundary of a long-running piece of work. You change nothing.',
    'Read `.loop/handoff.md`, `.loop/state.json` and the newest entries of `.loop/journal.md`, then as much of the code and tests as you need.',
    '',
    'Answer each of these questions on its own evidence. "holds": true is yes, false is no. Be strict: what you cannot see, does not hold.',
    '',
    ...rows,
    '',
    'Your whole final message is one JSON object of this form, with each id above, and nothing else:',
    '',
    example,
    '',
  ].join('\n');
}

/** A file for `loop gate --judge`, or undefined when the answer cannot be used: then the questions stay open. */
export function judgmentOf(text: string, digest: string, questions: readonly Question[]): string | undefined {
  for (const candidate of objectsIn(text)) {
    const answers = answersIn(candidate);
    if (answers === undefined) continue;
    const read = parseJudgment(JSON.stringify({ for: digest, answers }));
    if (typeof read === 'string') continue;
    const asked = new Set(questions.map(({ id }) => id));
    const known = Object.entries(read.answers).filter(([id]) => asked.has(id));
    if (known.length > 0) return JSON.stringify({ for: digest, answers: Object.fromEntries(known) });
  }
  return undefined;
}

function answersIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { answers?: unknown } | null)?.answers;
  } catch {
    return undefined;
  }
}

/** The message itself, what stands in its fences, what stands between its outer braces. */
function objectsIn(text: string): string[] {
  const fenced = [...text.matchAll(/```[a-z]*\n([\s\S]*?)\n```/g)].map((found) => found[1] ?? '');
  const outer = text.slice(Math.max(0, text.indexOf('{')), text.lastIndexOf('}') + 1);
  return [text.trim(), ...fenced.reverse(), outer];
}

function line(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), 600);
}
