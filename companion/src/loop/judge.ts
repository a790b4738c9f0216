// The judgment half: an answer to each question, from a file. It is bound to what was asked, so that yesterday's yes is no answer to today's question.
import { usageError } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Question } from '../core/loop.ts';
import { readText } from '../platform/files.ts';
import { hashOf } from '../store/mac.ts';
import type { Answers } from './evaluate.ts';
import { readLoop } from './files.ts';
import { headOf, openLoopGit } from './git.ts';
import type { LoopPlace } from './place.ts';
import { readHandoff } from './rewrite.ts';
import { planHash } from './stamp.ts';

const judgeBytes = 256 * 1024;

/** Binds an answer to these questions, about this plan, this handoff and this commit. */
export function digestOf(place: LoopPlace, questions: readonly Question[]): string {
  const read = readLoop(place);
  const git = openLoopGit(place);
  const about = [
    read.kind === 'ok' ? planHash(read.state) : '',
    hashOf(readHandoff(place) ?? ''),
    'git' in git ? headOf(git.git) : null,
    questions.map(({ id, question }) => [id, question]),
  ];
  return hashOf(JSON.stringify(about)).slice(0, 16);
}

export interface Judgment {
  for: string;
  answers: Answers;
}

export function readJudgment(file: string): Judgment {
  const text = readText(file, judgeBytes + 1);
  if (text === undefined) throw usageError(`cannot read the judge's answers ${file}: there is no such file`);
  if (text.length > judgeBytes) throw usageError(`cannot take the judge's answers ${file}: more than 256 KiB`);
  const found = parseJudgment(text);
  if (typeof found === 'string') throw usageError(`cannot take the judge's answers ${file}: ${found}`, form);
  return found;
}

const form = 'its form: {"for": DIGEST, "answers": {"E1": {"holds": true, "why": "..."}}}';

/** Or what is wrong with it. */
export function parseJudgment(text: string): Judgment | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `it is no JSON (${plainText(String(error)).slice(0, 120)})`;
  }
  const { for: digest, answers } = (value ?? {}) as { for?: unknown; answers?: unknown };
  if (typeof digest !== 'string') return 'it has no text "for"';
  if (typeof answers !== 'object' || answers === null || Array.isArray(answers)) return 'it has no object "answers"';
  const out: Record<string, { holds: boolean; why: string }> = Object.create(null);
  for (const [id, answer] of Object.entries(answers)) {
    const { holds, why } = (answer ?? {}) as { holds?: unknown; why?: unknown };
    if (typeof holds !== 'boolean') return `the answer to ${excerpt(id, 20)} has no "holds": true or false`;
    if (/^E\d[a-z]?(\.\d{1,3})?$/.test(id)) out[id] = { holds, why: typeof why === 'string' ? excerpt(why, 200) : '' };
  }
  return { for: digest, answers: out };
}
