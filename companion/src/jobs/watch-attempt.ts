// One attempt to look at a condition, bounded as a whole: whatever the kind does, when the time is up (or the watch ends) the programs
// that it started are ended and the caller has its answer. What a kind throws is a fault of ours, and told as one more attempt that failed.
import { formatDuration } from '../core/duration.ts';
import { messageOf } from '../core/errors.ts';
import { killSettleMs, toolGraceMs } from '../core/limits.ts';
import { monotonicMs, sleep } from '../platform/clock.ts';
import type { Cursor, Fault, Input, Look, Trouble, Watch } from '../watches/watch.ts';
import { makeTools, type ToolPlace } from './watch-tools.ts';

export interface AttemptTerms {
  place: ToolPlace;
  attemptMs: number;
  /** The watch ends: then there is no answer. */
  signal: AbortSignal;
  /** Gets what a kind threw. */
  onThrown?: (error: unknown) => void;
}

export type Answer = Look | Trouble | Fault;

export async function attempt(
  kind: Watch,
  input: Input,
  cursor: Cursor | null,
  terms: AttemptTerms,
): Promise<Answer | null> {
  const until = monotonicMs() + terms.attemptMs;
  const over = new AbortController();
  const end = (): void => over.abort();
  const tools = makeTools(terms.place, () => Math.max(1, until - monotonicMs()), over.signal);
  const isOver = new Promise<'over'>((resolve) => over.signal.addEventListener('abort', () => resolve('over')));
  const clock = setTimeout(end, terms.attemptMs);
  terms.signal.addEventListener('abort', end);
  if (terms.signal.aborted) end();
  try {
    const answer = await Promise.race([isOver, look(kind, input, cursor, tools, terms)]);
    if (answer !== 'over') return answer;
    // A little more than TERM and KILL take.
    await Promise.race([tools.idle(), sleep(toolGraceMs + killSettleMs)]);
    if (terms.signal.aborted) return null;
    const message = `no answer within ${formatDuration(terms.attemptMs)}`;
    return { kind: 'trouble', cause: 'timeout', message, retryAfterMs: null };
  } finally {
    clearTimeout(clock);
    terms.signal.removeEventListener('abort', end);
    // Whatever a kind did not wait for ends with its attempt.
    end();
  }
}

async function look(
  kind: Watch,
  input: Input,
  cursor: Cursor | null,
  tools: Parameters<Watch['look']>[1],
  terms: AttemptTerms,
): Promise<Answer> {
  try {
    return await kind.look(input, tools, cursor);
  } catch (error) {
    terms.onThrown?.(error);
    const message = `looking failed by an error of this program: ${messageOf(error)}`;
    return { kind: 'trouble', cause: 'failed', message, retryAfterMs: null };
  }
}
