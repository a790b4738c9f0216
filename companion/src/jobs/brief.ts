// The text that an agent gets: its role, the task byte for byte, where it stands, what holds for work without anybody to ask, and
// the form of its answer. Put together by the worker from the frozen request and the context of this very start; pure.
import { excerpt, plainText } from '../core/excerpt.ts';
import { findingsForm } from '../core/findings.ts';
import { completeName, declaredName, leftName, statusName } from '../core/handback.ts';
import type { Spec, StaffPart, WorkspaceContext } from '../core/job.ts';
import { findMode, isReader } from '../core/modes.ts';

export interface BriefFacts {
  context: WorkspaceContext | null;
  /** For `review`: what to look at and how to get it, as lines. */
  review: readonly string[];
  stateRoot: string;
}

/** The whole text for the agent. Without `brief` in the request: the task as it is. */
export function makeBrief(spec: Spec, facts: BriefFacts): string {
  const { staff } = spec;
  if (!staff) return '';
  const mode = findMode(staff.mode);
  if (!staff.brief || !mode) return staff.prompt;
  // A conversation that goes on knows its role and rules: only the task and where things stand now are new.
  const isFollowUp = staff.resume !== null;
  const parts = isFollowUp
    ? [task(staff), environment(spec, facts), handback(spec), unattended(spec, staff)]
    : [
        mode.role,
        task(staff),
        environment(spec, facts),
        staff.historical ? historical(staff.historical) : '',
        list('Rules', [...mode.rules, ...commonRules(spec, facts)]),
        handback(spec),
        list('Your final message', [...mode.form, ...answerRules]),
      ];
  if (staff.schema) parts.push(findingsForm);
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** On lines of its own, so that nothing of ours touches its first or last byte. */
function task(staff: StaffPart): string {
  return `<task>\n${staff.prompt}\n</task>`;
}

function commonRules(spec: Spec, facts: BriefFacts): string[] {
  const nobody = spec.handback
    ? 'Nobody can grant permissions while you work, and questions are answered only through the hand-back folder.'
    : 'Nobody can answer questions or grant permissions while you work.';
  const rules = [
    `${nobody} Decide, and say in the end what you assumed. If something that you need is refused, do what is possible without it and name it.`,
    `Write nothing into the folder ${facts.stateRoot}: it holds the records of this job.`,
    'When your turn ends, every process that you started is ended too. Leave nothing running that the task needs.',
  ];
  if (spec.staff && !isReader(spec.staff.mode, spec.staff.profile))
    rules.unshift(`Write only below ${spec.cwd}${spec.handback ? ', and into the hand-back folder' : ''}.`);
  return rules;
}

/** What the words of the question look like may not ask a question when the brief is quoted: `NN` is no number. */
function handback({ id, handback: part }: Spec): string {
  if (!part) return '';
  return list('Handing things back before the end', [
    `You are job ${id}. The folder ${plainLine(part.dir)} (JOB_HANDBACK) is for what the caller must see while you work; you may write there whatever else is not allowed.`,
    `A new file there with a name of the form NN-name.md (two digits, then letters, digits, dots, - or _) wakes the caller: for a question, a blocker, a batch that is ready. Not for plain progress. Number your files in order, and go on after the numbers that are there; ${declaredName} says first what you set out to do, ${leftName} last what is left over. Write a file under another name and rename it when it is whole.`,
    'The answer of the caller to NN-name.md is NN-answer-name.md, with the same number; such files are not yours to write. Read those that are there already before you ask.',
    `For how things stand, write ${statusName}: it wakes nobody.`,
    'When you cannot go on without an answer: write the question into such a file, stop what you have running, and end your turn. The last line of your final message is then "PARENT-QUESTION: " and the name of that file (PARENT-QUESTION: NN-name.md), and nothing after it. You are called again with the answer.',
    `When everything is done and handed back, write ${completeName} as the very last file; its last line is the word FROZEN. Change nothing in the folder after that.`,
  ]);
}

const answerRules = [
  'It is the only thing that is handed on: it must be complete and understandable without the rest of the conversation.',
  'If the task is not finished, let it begin with "NOT FINISHED:" and say what is missing and why.',
];

function unattended(spec: Spec, staff: StaffPart): string {
  const how = spec.handback ? ' but through the hand-back folder' : '';
  const scope = !isReader(staff.mode, staff.profile) ? '' : ' Change nothing.';
  return `The earlier rules hold: nobody can answer questions while you work${how}, and your final message is all that is handed on.${scope}`;
}

function environment(spec: Spec, facts: BriefFacts): string {
  const { context } = facts;
  const lines = [`Folder: ${plainLine(spec.cwd)}`];
  if (context) lines.push(`Date: ${plainLine(context.at)}`, ...gitLines(context));
  if (spec.worktree)
    lines.push(
      `This is a git worktree of its own (branch ${spec.worktree.branch}) of ${spec.worktree.from}: uncommitted changes of that tree are not here.`,
    );
  const limit = Math.round(spec.deadline_ms / 60_000);
  lines.push(`Time limit: ${limit >= 1 ? `${limit} min` : `${Math.round(spec.deadline_ms / 1000)} s`} in all`);
  const about = spec.staff?.mode === 'review' ? facts.review : [];
  return [list('Where you are', lines), about.length > 0 ? list('What to review', about) : '']
    .filter((part) => part !== '')
    .join('\n\n');
}

function gitLines({ git }: WorkspaceContext): string[] {
  if (!git) return ['Git: no repository'];
  const head = git.head === null ? 'no commit yet' : `${git.head.slice(0, 12)} ${plainLine(git.subject ?? '')}`.trim();
  const lines = [
    `Git: ${plainLine(git.root)}, ${git.branch === null ? 'detached HEAD' : `branch ${plainLine(git.branch)}`}, at ${head}`,
  ];
  if (git.dirty_count === 0) return [...lines, 'Uncommitted changes: none'];
  const more = git.dirty_count > git.dirty.length ? [`and ${git.dirty_count - git.dirty.length} more`] : [];
  const shown = [...git.dirty, ...more].map((line) => `  ${plainLine(line)}`).join('\n');
  return [...lines, `Uncommitted changes before you came (${git.dirty_count}):\n${shown}`];
}

/** A restarted task may speak of a state that is gone. */
function historical(context: WorkspaceContext): string {
  return list('An earlier attempt started from here (historical: it no longer holds)', [
    `Folder: ${plainLine(context.cwd)}`,
    `Date: ${plainLine(context.at)}`,
    ...gitLines(context),
  ]);
}

/** Names and paths are data of whoever made them: one bounded line each, whatever they hold. */
function plainLine(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' '), 1000);
}

function list(title: string, lines: readonly string[]): string {
  return [`${title}:`, ...lines.map((line) => `- ${line}`)].join('\n');
}
