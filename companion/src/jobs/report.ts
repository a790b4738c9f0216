// The deliverable of an ended job, result.md: a staff answer verbatim, the last lines of a command's output, and for everything that
// did not succeed a report - the reason in the backend's own words, the tails, what was seen last, and how to go on.
import { formatDuration } from '../core/duration.ts';
import { excerpt, plainText, tail } from '../core/excerpt.ts';
import type { JobState, ResultNote, Spec, TimerPart, WatchNote } from '../core/job.ts';
import { excerptBytes, textTailBytes } from '../core/limits.ts';
import { quoteWords } from '../core/shell-words.ts';
import { readRange } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import type { TerminateReport } from '../platform/process-tree.ts';
import type { JobPaths } from '../store/layout.ts';
import { readLogTail } from '../store/output-log.ts';
import type { CancelRequest } from '../store/records.ts';
import { type OwnLog, ownLogSection } from './own-log.ts';
import { recovery } from './recovery.ts';
import { logSection, runFacts } from './run-report.ts';
import type { StaffEnd } from './staff-end.ts';
import { describeChanges } from './workspace/describe.ts';
import { takeOverCommands } from './worktree.ts';

export interface Deliverable {
  spec: Spec;
  paths: JobPaths;
  state: JobState;
  staff: StaffEnd | undefined;
  results: ResultNote[];
  ownLog: OwnLog | null;
  /** Of a gate or a loop. */
  ownText: string | null;
  tree: TerminateReport;
  cancel: CancelRequest | undefined;
  /** The answer is stdout, byte for byte. */
  isPlain: boolean;
}

export function makeDeliverable(parts: Deliverable): string | Uint8Array {
  const { spec, state, staff, paths, isPlain } = parts;
  if (state.state !== 'done') return makeReport(parts);
  if (spec.timer) return spec.timer.message;
  if (spec.watch) return `${state.watch?.evidence ?? spec.watch.words}\n`;
  if (parts.ownText !== null) return parts.ownText;
  if (isPlain) return readRange(paths.output, 0, Number.MAX_SAFE_INTEGER)?.bytes ?? '';
  if (staff && staff.answer !== null) return staff.answer;
  const output = readLogTail(paths.output);
  return output.length > 0 ? output : readLogTail(paths.error);
}

function makeReport(parts: Deliverable): string {
  const { spec, state, staff } = parts;
  if (spec.timer) return timerReport(parts, spec.timer);
  const sections = [
    `# ${spec.id}: ${state.state}${state.error ? ` (${state.error.code})` : ''}`,
    reasonText(parts),
    facts(parts).join('\n'),
    parts.ownText?.trimEnd() ?? '',
    progress(parts),
    workspace(parts),
    ...logSections(parts),
    decided(parts),
    recovery(parts, staff?.reading.denials),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** Nothing ran: what is left to say is who took it back, and what it would have said. */
function timerReport({ spec, state, cancel }: Deliverable, timer: TimerPart): string {
  const lines = [
    `# ${spec.id}: ${state.state}`,
    '',
    `Canceled${cancelWords(cancel)}. It was due at ${plainText(timer.due_at)}.`,
    ...(timer.message === '' ? [] : ['', '## Its message', '', timer.message]),
  ];
  return `${lines.join('\n')}\n`;
}

function cancelWords(cancel: CancelRequest | undefined): string {
  const why = cancel?.why ? `: ${plainText(cancel.why)}` : '';
  const who = cancel
    ? ` by ${plainText(cancel.owner ?? `process ${cancel.by?.pid ?? 'unknown'}`)} at ${plainText(cancel.at)}`
    : '';
  return `${who}${why}`;
}

function reasonText({ state, cancel, tree }: Deliverable): string {
  if (state.state === 'canceled' && state.started_at === null && tree.step === 'none')
    return `Canceled${cancelWords(cancel)}. Nothing of it had been started.`;
  if (state.state === 'canceled') {
    const step = {
      none: 'nothing was running any more',
      term: 'the tree ended on SIGTERM',
      kill: 'SIGKILL was needed',
    }[tree.step];
    return `Canceled${cancelWords(cancel)}. ${tree.ended.length} process(es) ended; ${step}.`;
  }
  const resets = state.error?.resets ? ` (resets: ${state.error.resets})` : '';
  return `Reason: ${plainText(state.error?.message ?? 'not known')}${resets}`;
}

function facts(parts: Deliverable): string[] {
  const { spec, state, paths, tree } = parts;
  const rows: [string, string | null][] = [
    ['Command', spec.run ? excerpt(quoteWords(spec.run.argv), 1000) : null],
    ['Condition', spec.watch ? plainText(spec.watch.words) : null],
    ['Seen last', spec.watch && state.watch ? seenLast(state.watch) : null],
    ['Backend', spec.staff ? `${spec.staff.backend}, mode ${spec.staff.mode}, profile ${spec.staff.profile}` : null],
    ['Task', spec.staff ? excerpt(plainText(spec.staff.prompt).replace(/\s+/g, ' '), excerptBytes) : null],
    ['Folder', spec.cwd],
    ['Exit code', state.exit_code === null ? null : String(state.exit_code)],
    [
      'Signal',
      state.signal === null ? null : `${state.signal}${state.signal_certain ? '' : ' (by the exit code; not certain)'}`,
    ],
    ['Duration', state.duration_ms === null ? null : formatDuration(state.duration_ms)],
    ['Hard limit', formatDuration(spec.deadline_ms)],
    ...runFacts(parts),
    ['Conversation', state.conversation?.id ?? null],
    [
      'Survivors',
      tree.survivors.length > 0 ? tree.survivors.map((one) => `${one.pid} (${one.name})`).join(', ') : null,
    ],
    ['Warnings', state.warnings.length > 0 ? state.warnings.map((one) => plainText(one.message)).join('; ') : null],
    ['Whole output', spec.watch ? null : wholeOutput(paths)],
    ['What was told', spec.watch ? paths.events : null],
  ];
  return rows.filter(([, value]) => value !== null).map(([name, value]) => `${name}: ${value}`);
}

/** Null when nothing was ever started: there is no output then. */
function wholeOutput({ output, error }: JobPaths): string | null {
  const there = [output, error].filter(exists);
  return there.length === 0 ? null : there.join(' and ');
}

function seenLast({ evidence, polls, troubles, trouble }: WatchNote): string {
  const failed = troubles > 0 ? `; the last ${troubles} failed: ${plainText(trouble ?? 'not known why')}` : '';
  return `${plainText(evidence)} (${polls} attempts${failed})`;
}

/** What an agent did last: its latest text and calls. */
function progress({ staff }: Deliverable): string {
  if (!staff) return '';
  const { reading } = staff;
  const lines: string[] = [];
  for (const call of reading.tools.slice(-5)) {
    lines.push(`- ${call.name} ${excerpt(plainText(call.input).replace(/\s+/g, ' '), excerptBytes)} [${call.status}]`);
  }
  const text = plainText(reading.answer || reading.text).trim();
  if (text !== '') lines.push('', ...tail(text, textTailBytes).text.split('\n'));
  return lines.length > 0 ? ['## Seen last (not a finished answer)', '', ...lines].join('\n') : '';
}

/** What is there now, whatever the agent would have said of it. */
function workspace({ spec, staff }: Deliverable): string {
  if (!staff?.changes) return '';
  const lines = ['## Workspace', '', describeChanges(staff.changes)];
  if (spec.worktree) {
    lines.push('', `It worked in a worktree of its own, ${spec.worktree.path} (branch ${spec.worktree.branch}).`);
    for (const command of takeOverCommands(spec.worktree, staff.changes)) lines.push(`    ${command}`);
  }
  return lines.join('\n');
}

/** What the caller wanted to be done about a stall, in the caller's own words. */
function decided({ spec, state }: Deliverable): string {
  if (state.error?.code !== 'stalled' || !spec.on_stall) return '';
  return `## Decided at launch for a stall\n\n${plainText(spec.on_stall).trim()}`;
}

function logSections({ spec, paths, ownLog }: Deliverable): string[] {
  // An agent's stdout is its event stream: told above in readable form, not again as JSON.
  if (spec.staff) return [logSection('Last error output', paths.error)];
  const own = ownLog === null ? undefined : ownLogSection(ownLog);
  return [
    ...(own ? [own.text] : []),
    ...(own?.isWhole ? [] : [logSection('Last output', paths.output)]),
    logSection('Last error output', paths.error),
  ];
}
