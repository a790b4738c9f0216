// The words of the hand-back protocol: which files in the folder are the child's and count, which are the caller's answers, when the child
// has frozen it, and what a final answer asks or leaves open. Pure.

/** Two digits, so that names sort in the order of the work. */
const ordered = /^[0-9]{2}-[A-Za-z0-9_.-]+\.md$/;
/** Kept narrow: a file of the child that is taken for the caller's would wake nobody. */
const answer = /^[0-9]{2}-answers?[-_.]/;
const nameBytes = 255;

/** Written last of all; frozen when its last line says so. */
export const completeName = 'complete.md';
/** The caller may read it; it wakes nobody. */
export const statusName = 'status.md';

/** A file of the child that somebody is to be told of. */
export function isHandback(name: string): boolean {
  return ordered.test(name) && !answer.test(name);
}

/** Said at the beginning and at the end: they ask nothing. */
export const declaredName = '00-declared.md';
export const leftName = '99-left.md';

/**
 * Under which name the child looks for the answer to a file: `01-questions.md` has `01-answer-questions.md`, with the same number. Null for
 * a file that asks nothing.
 */
export function answerName(name: string): string | null {
  if (name === declaredName || name === leftName) return null;
  const made = `${name.slice(0, 3)}answer-${name.slice(3)}`;
  return made.length <= nameBytes ? made : `${name.slice(0, 3)}answer.md`;
}

export function isFrozen(text: string): boolean {
  return /(?:^|\n)FROZEN\s*$/.test(text);
}

/** What the final answer asks: the name of the file with the question. Only as the last line: what quotes the words asks nothing. */
export function findQuestion(text: string): string | null {
  return /(?:^|\n)PARENT-QUESTION: ([0-9]{2}-[A-Za-z0-9_.-]+\.md)\s*$/.exec(text)?.[1] ?? null;
}

/** What the final answer begins with when something is missing: with its colon, and marks of Markdown around it at most. */
export function isUnfinished(text: string): boolean {
  return /^[\s#*_>`~-]{0,10}NOT FINISHED[*_`~]{0,3}:/.test(text.trimStart().slice(0, 200));
}
