// What an agent CLI (the host) tells a hook of ours at the end of a turn and with a new prompt, and what a hook may answer. Only forms
// that hold nothing up: a hook never keeps a host from ending its turn and never refuses a prompt.

export const hookHosts = ['claude', 'codex'] as const;
export type HookHost = (typeof hookHosts)[number];

/** As both hosts call them. */
export const hookEvents = ['Stop', 'UserPromptSubmit'] as const;
export type HookEvent = (typeof hookEvents)[number];

/** Who is told of what, for people. */
export const hookWhom =
  'Stop (a turn ends) tells you, the person at the session; UserPromptSubmit (a new prompt) tells the model, beside the prompt.';

export interface HookInput {
  /** Where the session works; null when it was not told. */
  cwd: string | null;
  /** The host goes on because of a hook already (the re-entry flag): whatever was to be said was said. */
  isAgain: boolean;
}

const nothingTold: HookInput = { cwd: null, isAgain: false };

/** What stands on stdin. What is not as expected is as if it was not told. */
export function readHookInput(text: string): HookInput {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return nothingTold;
  }
  if (typeof value !== 'object' || value === null) return nothingTold;
  const { cwd, stop_hook_active } = value as Record<string, unknown>;
  const isPath = typeof cwd === 'string' && cwd.startsWith('/') && cwd.length <= 4096 && !cwd.includes('\0');
  return { cwd: isPath ? cwd : null, isAgain: stop_hook_active === true };
}

/**
 * The words in the form that the host takes (both take the same). With a prompt they reach the model, beside the prompt. At the end of a
 * turn they reach the person only: whatever reaches the model there makes it go on, so it would hold up the end.
 */
export function hookReply(event: HookEvent, text: string): unknown {
  return event === 'Stop'
    ? { systemMessage: text }
    : { hookSpecificOutput: { hookEventName: event, additionalContext: text } };
}

/** A trouble of ours is for the person, never for the model. */
export function hookTrouble(reason: string): unknown {
  return { systemMessage: `job-companion: the hook could not look at the jobs: ${reason}` };
}
