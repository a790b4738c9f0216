// The end of a report: what helps against this very failure, and the exact commands that go on.
import { plainText } from '../core/excerpt.ts';
import type { JobState, Spec, StaffPart } from '../core/job.ts';
import { quoteWords } from '../core/shell-words.ts';
import type { JobPaths } from '../store/layout.ts';
import { isContinuable } from './continuable.ts';
import { nextCommand, nextCommands } from './next-commands.ts';

/** Markdown with its heading. `refused`: what was not allowed to the agent. */
export function recovery(
  job: { spec: Spec; state: JobState; paths: JobPaths },
  refused: readonly string[] | undefined = [],
): string {
  const { spec, state, paths } = job;
  const again = nextCommands.restart(spec.id, spec.state_option);
  if (state.watch?.watched_to_end)
    return `## Going on\n\nIt was watched to its end, as asked: nothing failed. To watch on for as long again: ${again}`;
  const lines = ['## Going on', '', `Nothing is started again by itself.${lookFirst(job)}`];
  if (spec.staff) lines.push(...remedies(spec, spec.staff, state), ...refusals(spec.staff, refused));
  if (isContinuable(paths, state))
    lines.push(`Go on in the same conversation: ${nextCommands.continue(spec.id, spec.state_option)}`);
  lines.push(`Start the same once more: ${again}`);
  return lines.join('\n');
}

function lookFirst({ spec, state }: { spec: Spec; state: JobState }): string {
  // What only looks has changed nothing.
  if (spec.kind === 'watch') return '';
  if (state.state === 'canceled' && state.started_at === null) return '';
  if (state.error?.code === 'spawn_failed' || state.error?.code === 'never_started') return '';
  if (spec.run?.status_cmd)
    return ` The task may live on, and a restart would start another: ask for it first: ${quoteWords(['sh', '-c', plainText(spec.run.status_cmd)])}`;
  // A tree of its own is not the one in which the caller stands.
  const git = spec.worktree ? quoteWords(['git', '-C', spec.worktree.path]) : 'git';
  return ` Look at what was changed first: ${git} status, ${git} diff.`;
}

function remedies(spec: Spec, staff: StaffPart, state: JobState): string[] {
  const name = staff.custom?.name ?? staff.backend;
  switch (state.error?.code) {
    case 'auth':
      return [
        `Sign in first: start ${staff.program} by hand, or set its key. Then try it out: ${nextCommand(spec.state_option, 'doctor', '--backend', name)}`,
      ];
    case 'quota': {
      const resets = state.error.resets ? ` (resets: ${plainText(state.error.resets)})` : '';
      return [
        `The quota of ${name} is used up${resets}. The same with another CLI: ${nextCommand(spec.state_option, 'restart', spec.id, '--backend', 'OTHER')}`,
      ];
    }
    default:
      return [];
  }
}

function refusals(staff: StaffPart, refused: readonly string[]): string[] {
  if (refused.length === 0) return [];
  const wider = staff.profile === 'restricted' ? 'standard' : 'unrestricted';
  return [
    `Refused to the agent (profile ${staff.profile}): ${refused.map(plainText).join('; ')}. If it should be allowed: --profile ${wider} with one of the commands below.`,
  ];
}
