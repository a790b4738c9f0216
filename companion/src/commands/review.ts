// `review`: changes looked at by an agent that changes nothing.
import { makeStaffVerb } from './staff-verb.ts';

export const review = makeStaffVerb({
  mode: 'review',
  options: {
    base: {
      kind: 'text',
      value: 'REV',
      help: 'review what changed since this commit (default: what is uncommitted, else the newest commit)',
    },
    schema: { kind: 'flag', help: 'ask for structured findings; `result --json` has them as `findings`' },
  },
  examples: [
    'review --backend claude --prompt "Review what is uncommitted"',
    'review --base main --schema --prompt "Look for lost updates"',
  ],
});
