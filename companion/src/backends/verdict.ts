// Did the agent succeed? The one answer for every backend (contract 9): exit 0, a final event, no error event or flag, a
// non-empty final answer, and the conversation that was asked for. Pure.
import type { JobError, Warning } from '../core/job.ts';
import type { Ending, Reading } from './backend.ts';

/** Why the job ended: by itself, by a reason of ours, or because the agent did not leave after its final event. */
export type StaffReason = 'exited' | 'lingered' | 'hard_timeout' | 'other';

export interface StaffVerdict {
  /** The complete final answer; null when there is none. */
  answer: string | null;
  /** Null is success. */
  error: JobError | null;
  warnings: Warning[];
}

export function judgeStaff(
  reading: Reading,
  ending: Ending,
  request: { resume: string | null; reason: StaffReason; keepsConversation: boolean },
): StaffVerdict {
  const answer = reading.answer !== null && reading.answer.trim() !== '' ? reading.answer : null;
  const warnings = [...reading.warnings, ...denialWarnings(reading)];
  const error = findError(reading, ending, request, answer);
  if (error === null && request.reason === 'lingered') {
    warnings.push({
      code: 'ended_after_answer',
      message: 'the agent stayed alive after its final event and was ended',
    });
  }
  if (error === null && request.reason === 'hard_timeout') {
    warnings.push({
      code: 'limit_after_answer',
      message: 'the hard limit struck after the complete answer had arrived',
    });
  }
  return { answer, error, warnings };
}

function findError(
  reading: Reading,
  ending: Ending,
  request: { resume: string | null; reason: StaffReason; keepsConversation: boolean },
  answer: string | null,
): JobError | null {
  if (reading.failure) return reading.failure;
  if (reading.final === 'failure')
    return { code: 'agent_error', message: lastWords(ending) ?? 'the agent reported a failure' };
  // An agent that we ended after its final event has no exit code of its own to judge.
  if (request.reason === 'exited' && ending.exitCode !== 0) return exitError(ending);
  if (reading.final === null && (answer !== null || reading.denials.length === 0)) {
    return { code: 'no_final_answer', message: `the agent ended without a final event${quoted(lastWords(ending))}` };
  }
  if (request.resume !== null && request.keepsConversation && reading.conversationId !== request.resume) {
    const got = reading.conversationId ?? 'none';
    return {
      code: 'conversation_mismatch',
      message: `conversation ${request.resume} was asked for, the agent used ${got}`,
    };
  }
  if (answer !== null) return null;
  if (reading.denials.length > 0) {
    return {
      code: 'permission_denied',
      message: `there is no final answer and these were refused: ${reading.denials.join(', ')}`,
    };
  }
  return { code: 'no_final_answer', message: 'the final answer is empty' };
}

function exitError(ending: Ending): JobError {
  const words = quoted(lastWords(ending));
  if (ending.signal) return { code: 'signal', message: `the agent was ended by ${ending.signal}${words}` };
  return { code: 'exit_nonzero', message: `the agent exited with code ${ending.exitCode}${words}` };
}

function denialWarnings(reading: Reading): Warning[] {
  return reading.denials.map((what) => ({ code: 'permission_denied', message: `refused to the agent: ${what}` }));
}

/** The last line of stderr that says something: the backend's own words. */
export function lastWords(ending: Ending): string | undefined {
  const lines = ending.stderrTail.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').at(-1);
}

function quoted(words: string | undefined): string {
  return words === undefined ? '' : `: ${words}`;
}
