// `staffer`: hand a task to an agent CLI and go away.
import { makeStaffVerb } from './staff-verb.ts';

export const staffer = makeStaffVerb({
  mode: 'staffer',
  examples: [
    'staffer --backend codex --prompt "Fix the test of parse.ts"',
    'staffer --prompt-file task.md --timeout 90m --once-key task-17',
  ],
});
