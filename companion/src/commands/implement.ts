// `implement`: a change in this worktree, or with --worktree in one of its own.
import { makeStaffVerb } from './staff-verb.ts';

export const implement = makeStaffVerb({
  mode: 'implement',
  notes:
    'A second implement job in the same worktree is refused unless it has --worktree or --share. The result says what was changed: files, commits, or that nothing was.',
  examples: [
    'implement --backend claude --prompt-file change.md --timeout 90m',
    'implement --worktree --prompt "Port io.ts to streams; commit it"',
  ],
});
