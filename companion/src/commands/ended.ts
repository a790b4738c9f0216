// What is told of one ended job: the deliverable on stdout; header, changes and warnings on stderr; its record with --json.

import { formatDuration } from '../core/duration.ts';
import { plainText } from '../core/excerpt.ts';
import { exitCodeOf } from '../core/exit-codes.ts';
import type { JobState } from '../core/job.ts';
import { ageOf } from '../core/recorded-time.ts';
import { formatSize } from '../core/size.ts';
import { claimsOf } from '../jobs/claims/answer.ts';
import { goingOn } from '../jobs/going-on.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { terminalRecord } from '../jobs/terminal-record.ts';
import { goneError, type View } from '../jobs/view.ts';
import { isoNow, nowMs } from '../platform/clock.ts';
import { readRange, readText } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import type { JobPaths } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { noticeNotes } from './notice-notes.ts';
import { runNotes } from './run-notes.ts';
import { handbackLine } from './standing-lines.ts';
import { workspaceNotes } from './workspace-notes.ts';

/** The deliverable and the header of an ended job. */
export function tellEnded(context: Pick<Context, 'isTerminal'>, view: View): Reply {
  if (view.damage !== null) return tellDamaged(view);
  const deliverable = readRange(view.paths.result, 0, 64 * 1024 * 1024)?.bytes;
  // `clean` may take it while we look.
  if (!deliverable && !exists(view.paths.folder)) throw goneError(view.id, view.paths);
  const notes = [header(view), ...runNotes(view), ...omittedNotes(view.state), ...workspaceNotes(view)];
  notes.push(...noticeNotes(view));
  const handback = handbackLine(view);
  if (handback !== null) notes.push(`hand-back: ${handback}`);
  if (view.spec?.staff?.mode === 'implement' && claimsOf(view).kind === 'ok')
    notes.push(`check it: ${nextCommands.verify(view.id, view.spec.state_option)}`);
  for (const warning of view.state.warnings) notes.push(warningNote(warning));
  const on = goingOn(view, view.spec?.state_option ?? []);
  if (on) notes.push(...(on.words === null ? [] : [`note: ${on.words}`]), `go on: ${Object.values(on.next)[0]}`);
  if (!deliverable) notes.push(`warning: no result is stored; see ${view.paths.folder}`);
  const bytes = deliverable ?? Buffer.alloc(0);
  return {
    code: exitCodeOf(view.state.state),
    out: context.isTerminal ? forTerminal(bytes) : bytes,
    notes,
  };
}

export function warningNote(warning: { message: string }): string {
  return `warning: ${plainText(warning.message)}`;
}

/** What `wait` and `result` print with --json. */
export function endedDocument(view: View): object {
  const times = { now: isoNow(), age_ms: ageOf(view.state.created_at, nowMs()) };
  if (view.damage !== null) return { ...view.state, ...times };
  const on = goingOn(view, view.spec?.state_option ?? []);
  const next = on ? { going_on: on.words, next: on.next } : {};
  return { ...recordOf(view), ...whatIsThere(view.paths), ...times, ...next };
}

/** The prompt of the shell begins a line of its own. */
function forTerminal(bytes: Buffer): string {
  const text = plainText(bytes.toString('utf8'));
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function tellDamaged(view: View): Reply {
  const text = `# ${view.id}: state_damaged\n\n${view.state.error?.message}\n\nNothing was deleted. What is there: ${view.paths.folder}\n`;
  return {
    code: exitCodeOf(view.state.state),
    out: text,
    notes: [`see: ${nextCommands.doctor(view.id, view.spec?.state_option ?? [])}`],
  };
}

function header(view: View): string {
  const { state, paths, spec } = view;
  const facts = [
    ...(state.exit_code === null ? [] : [`exit code ${state.exit_code}`]),
    ...(state.duration_ms === null ? [] : [formatDuration(state.duration_ms)]),
  ];
  // The words of others may end as a sentence does.
  const error = state.error && `${state.error.code}: ${plainText(state.error.message).trimEnd().replace(/\.$/, '')}`;
  const outcome = error ? `${state.state}, ${error}` : state.state;
  const first = [outcome, facts.join(', ')].filter((part) => part !== '').join(error ? '; ' : ', ');
  const where = [`result: ${paths.result}`];
  if (spec?.timer) where.unshift(`due: ${plainText(spec.timer.due_at)}`);
  if (spec?.kind === 'run' && exists(paths.output)) where.push(`whole output: ${paths.output}`);
  return [`${view.id}: ${first}`, ...where].join('\n');
}

function omittedNotes(state: JobState): string[] {
  return Object.entries(state.output ?? {})
    .filter(([, note]) => note.omitted > 0)
    .map(
      ([name, note]) =>
        `${name}: ${note.exact ? '' : 'about '}${note.omitted} of ${note.bytes} bytes (${formatSize(note.omitted)}) are left out in the middle`,
    );
}

function recordOf({ paths, spec, state }: View): object {
  const stored = readText(paths.resultRecord);
  try {
    if (stored !== undefined) return { ...(JSON.parse(stored) as object), state: state.state };
  } catch {
    // The state alone still says how it ended.
  }
  return spec ? terminalRecord(spec, paths, state) : state;
}

/** A clean success takes an agent's stream away. */
function whatIsThere(paths: JobPaths): Record<string, string | null> {
  const there = (file: string): string | null => (exists(file) ? file : null);
  return { result_path: there(paths.result), output_path: there(paths.output), error_path: there(paths.error) };
}
