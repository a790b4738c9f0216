// `result ID --claims`: the parsed completion block, or why there is none. One JSON document in any case.
import { exitCodeOf, exitCodes } from '../core/exit-codes.ts';
import { claimsOf } from '../jobs/claims/answer.ts';
import type { View } from '../jobs/view.ts';
import type { Reply } from './command.ts';

/** A job that did not succeed keeps its own code, also when it claims something. */
export function tellClaims(view: View): Reply {
  const parsed = claimsOf(view);
  const own = exitCodeOf(view.state.state);
  if (parsed.kind === 'ok') return { code: own, out: printable(parsed.claims) };
  const { error } = parsed;
  const code = own === exitCodes.done ? exitCodes.unsuccessful : own;
  return { code, out: printable({ error }), notes: [`${view.id}: ${error.code}: ${error.message}`] };
}

/** Names of files may hold what a terminal obeys. */
function printable(value: unknown): string {
  const escaped = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value).replace(/[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, escaped)}\n`;
}
