// What agents have asked and nobody has answered yet, from the hand-back folders themselves: it is told on every look, whatever was told
// before, so that a caller that forgets cannot lose it. An answer is a file (core/handback.ts: answerName); of an agent that ended its turn with a
// question also a job that goes on from it.
import { answerName, findQuestion, isHandback } from '../core/handback.ts';
import type { Warning } from '../core/job.ts';
import { handbackMost, pathLookMs, wakeJobs } from '../core/limits.ts';
import { inTime, lookIntoFolder } from '../platform/folder-look.ts';
import { isFile } from '../platform/folders.ts';
import { listJobs } from '../store/catalog.ts';
import { JournalScan } from '../store/journal-scan.ts';
import { jobPaths } from '../store/layout.ts';
import { readLogTail } from '../store/output-log.ts';
import { readSpec } from '../store/records.ts';
import { goingOn } from './going-on.ts';
import { nextCommands } from './next-commands.ts';
import { isEnded, type View } from './view.ts';

export interface Question {
  view: View;
  /** Absolute where there is a hand-back folder; null when the folder cannot be looked into. */
  file: string | null;
  /** The agent names it, and it is not there. */
  isMissing?: boolean;
  /** Where the agent looks for the answer; null: in the next task. */
  answer: string | null;
  /** Why the folder cannot be looked into. */
  trouble: string | null;
  /** What goes on from an agent that has ended; null while it works and looks for the answer itself. */
  next: string | null;
}

export async function questionsOf(view: View, option: readonly string[]): Promise<Question[]> {
  const { spec, state, damage } = view;
  if (!spec?.staff || damage !== null) return [];
  if (!isEnded(state)) return inFolder(view, null);
  if (!hasQuestion(state) || isGoneOnFrom(view)) return [];
  return atEnd(view, option);
}

export function hasQuestion({ warnings }: { warnings: readonly Warning[] }): boolean {
  return warnings.some(({ code }) => code === 'parent_question');
}

/** The file that the answer names, and while that has no answer what else lies there without one. */
async function atEnd(view: View, option: readonly string[]): Promise<Question[]> {
  const { spec, paths, id } = view;
  const on = goingOn(view, option)?.next ?? { restart: nextCommands.restart(id, option) };
  const [next = null] = Object.values(on);
  const named = findQuestion(readLogTail(paths.result).toString('utf8'));
  const dir = spec?.handback?.dir;
  if (dir === undefined || named === null) return [{ view, file: named, answer: null, trouble: null, next }];
  const name = answerName(named);
  const answer = name === null ? null : `${dir}/${name}`;
  if (answer !== null && isFile(answer)) return [];
  const file = `${dir}/${named}`;
  const asked: Question = { view, file, isMissing: !isFile(file), answer, trouble: null, next };
  const others = await inFolder(view, next);
  return [asked, ...others.filter((one) => one.file !== null && one.file !== file)];
}

async function inFolder(view: View, next: string | null): Promise<Question[]> {
  const handback = view.spec?.handback;
  if (!handback) return [];
  const { dir, baseline } = handback;
  const isWanted = (name: string): boolean => /^[0-9]{2}-.*\.md$/.test(name);
  const seen = await inTime(lookIntoFolder(dir, isWanted, handbackMost), pathLookMs, { trouble: 'it gives no answer' });
  if ('trouble' in seen) return [{ view, file: null, answer: null, trouble: `${dir}: ${seen.trouble}`, next }];
  const names = new Set(seen.files.map(({ name }) => name));
  // What lay there at launch is the child's only when it has changed it since.
  const changed = seen.files.some(({ name }) => Object.hasOwn(baseline, name)) ? toldNames(view) : new Set<string>();
  return seen.files.flatMap(({ name, size }): Question[] => {
    const answer = answerName(name);
    const isOld = Object.hasOwn(baseline, name) && !changed.has(name);
    if (!isHandback(name) || size === 0 || isOld || answer === null || names.has(answer)) return [];
    return [{ view, file: `${dir}/${name}`, answer: `${dir}/${answer}`, trouble: null, next }];
  });
}

function toldNames({ paths }: View): Set<string> {
  const names = new Set<string>();
  new JournalScan(paths.events).read(({ type, name }) => {
    if (type === 'handback' && typeof name === 'string') names.add(name);
  });
  return names;
}

/** Continued or started again: the question is that one's business now. */
function isGoneOnFrom({ root, id }: View): boolean {
  for (const other of listJobs(root).slice(0, wakeJobs)) {
    if (other === id) return false;
    const spec = readSpec(jobPaths(root, other));
    if (spec.kind === 'ok' && spec.value.lineage?.parent === id) return true;
  }
  return false;
}
