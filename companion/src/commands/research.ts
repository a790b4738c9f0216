// `research`: a question that needs looking around, answered with evidence; changes nothing.
import { makeStaffVerb } from './staff-verb.ts';

export const research = makeStaffVerb({
  mode: 'research',
  examples: ['research --backend gemini --prompt "Who still calls parseOld?"'],
});
