// The errors that a command may end with (exit code 1). A message is one sentence: cannot VERB OBJECT; cause; what came
// and what is allowed. `next` is the command or option that gets the caller on.

export type FaultCode =
  | 'usage'
  | 'unknown_job'
  | 'ambiguous_id'
  | 'preflight'
  | 'busy'
  | 'identity_mismatch'
  | 'state_unusable'
  | 'internal';

/** An expected refusal: nothing was created, nothing was lost. */
export class FaultError extends Error {
  readonly code: FaultCode;
  readonly next: string | null;

  constructor(code: FaultCode, message: string, next: string | null = null) {
    super(message);
    this.name = 'FaultError';
    this.code = code;
    this.next = next;
  }
}

export function usageError(message: string, next: string | null = null): FaultError {
  return new FaultError('usage', message, next);
}

/** The `code` of a Node system error (`ENOENT`, ...), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
