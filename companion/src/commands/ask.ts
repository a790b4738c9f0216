// `ask`: a question to an agent CLI, answered before the command returns. Still a recorded job: killing `ask` does not end it.
import { makeStaffVerb } from './staff-verb.ts';

export const ask = makeStaffVerb({
  mode: 'ask',
  isSynchronous: true,
  notes: 'Exit codes as of wait. With --id-only it returns at once, as staffer does.',
  examples: ['ask --backend codex --prompt "What does this repository do?"'],
});
