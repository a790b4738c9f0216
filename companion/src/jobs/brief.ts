// The text that an agent gets: its role, the task byte for byte, where it stands, what holds for work without anybody to ask, and
// the form of its answer. Put together by the worker from the frozen request and the context of this very start; pure.
import { excerpt, plainText } from '../core/excerpt.ts';
import { findingsForm } from '../core/findings.ts';
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
    ? [task(staff), environment(spec, facts), unattended(staff)]
    : [
        mode.role,
        task(staff),
        environment(spec, facts),
        staff.historical ? historical(staff.historical) : '',
        list('Rules', [...mode.rules, ...commonRules(spec, facts)]),
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
  const rules = [
    'Nobody can answer questions or grant permissions while you work. Decide, and say in the end what you assumed. If something that you need is refused, do what is possible without it and name it.',
    `Write nothing into the folder ${facts.stateRoot}: it holds the records of this job.`,
    'When your turn ends, every process that you started is ended too. Leave nothing running that the task needs.',
  ];
  if (spec.staff && !isReader(spec.staff.mode, spec.staff.profile)) rules.unshift(`Write only below ${spec.cwd}.`);
  return rules;
}

const answerRules = [
  'It is the only thing that is handed on: it must be complete and understandable without the rest of the conversation.',
  'If the task is not finished, let it begin with "NOT FINISHED:" and say what is missing and why.',
];

function unattended(staff: StaffPart): string {
  const scope = !isReader(staff.mode, staff.profile) ? '' : ' Change nothing.';
  return `The earlier rules hold: nobody can answer questions while you work, and your final message is all that is handed on.${scope}`;
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
