/**
 * Answers with a completion block, as the scripted agent of staff.ts prints them, and what `verify` says of them.
 */
import { parseReply, type RunOptions, run } from './companion.ts';
import type { Workspace } from './workspace.ts';

/** Shell text that prints the block; `$NAME` in it is what the script has set before. */
export function claim(fields: object, { info = 'completion' }: { info?: string } = {}): string {
  const block = { schema: 'pi-completion/v1', status: 'done', summary: 'It works.', ...fields };
  return `cat <<END\nI did it.\n\n\\\`\\\`\\\`${info}\n${JSON.stringify(block)}\n\\\`\\\`\\\`\nEND\n`;
}

export interface Verified {
  code: number | null;
  verdict: string | null;
  /** `KIND CLAIM: RESULT`, each on its own. */
  rows: string[];
  details: string[];
  reply: Record<string, unknown> & {
    error: { code: string; message: string } | null;
    block_error: { code: string; fieldPath: string | null } | null;
    rerun: Record<string, unknown> | null;
    unclaimed: Record<string, unknown> | null;
  };
}

export async function verify(
  workspace: Workspace,
  id: string,
  words: string[] = [],
  options?: RunOptions,
): Promise<Verified> {
  const result = await run(workspace, ['verify', id, ...words, '--json'], options);
  const reply = parseReply<Verified['reply']>(result);
  const claims = (reply.claims ?? []) as { kind: string; claim: string; result: string; detail: string }[];
  return {
    code: result.code,
    verdict: reply.verdict as string | null,
    rows: claims.map(({ kind, claim: text, result: judged }) => `${kind} ${text}: ${judged}`),
    details: claims.map(({ detail }) => detail),
    reply,
  };
}
