// One notice: the user's own program is told, once, of one end or one event. Whoever sends it - the job's worker, a replacement, a process that a
// reader started - the claim is made by the very process that becomes the notifier (`mkdir`, then `exec`), so none is repeated and none is
// forgotten between a claim and a start.
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Spec } from '../core/job.ts';
import { notifyBytes, notifyFloodBytes, notifyMs } from '../core/limits.ts';
import { toHex } from '../core/sha256.ts';
import { notifierEnvironment } from '../platform/env.ts';
import { createFolder, readText } from '../platform/files.ts';
import { exists, factsOf, isFolder } from '../platform/folders.ts';
import { randomBytes } from '../platform/random.ts';
import { runTool } from '../platform/tool.ts';
import type { JobPaths } from '../store/layout.ts';

/**
 * $0 is the claim, $1 the word by which we know it as ours. Should we die, a clock of the notifier's own group ends that group; it is
 * nobody's child, so that a notifier that waits for its children does not wait for it.
 */
const script = `mkdir -m 700 "$0" 2>/dev/null || exit 121
(umask 077; echo "$1" >"$0/by") 2>/dev/null
shift
({ sleep ${Math.ceil(notifyMs / 1000) + 5}; kill -s KILL 0; } </dev/null >/dev/null 2>&1 &)
exec "$@"`;

export type Told =
  | { is: 'told'; fields: { key: string; code: number | null; how: string; output: string } }
  /** Somebody else told it, or does so now. */
  | { is: 'taken' }
  /** Nobody could be told: no claim could be made. */
  | { is: 'failed' };

export function isTold(paths: JobPaths, key: string): boolean {
  return factsOf(`${paths.notices}/${key}`) !== undefined;
}

/** `input` is made only when it is needed. Never throws for what the notifier does. */
export async function sendNotice(
  job: { paths: JobPaths; spec: Spec },
  key: string,
  input: () => string,
): Promise<Told> {
  const { paths, spec } = job;
  if (!spec.notify || isTold(paths, key)) return { is: 'taken' };
  createFolder(paths.notices);
  // It lies where an agent may write: nothing is made through a link.
  if (factsOf(paths.notices)?.kind !== 'folder') return { is: 'failed' };
  const claim = `${paths.notices}/${key}`;
  const word = toHex(randomBytes(8));
  const answer = await runTool({
    program: '/bin/sh',
    args: ['-c', script, claim, word, ...spec.notify],
    cwd: isFolder(spec.cwd) ? spec.cwd : '/',
    environment: notifierEnvironment(spec.id),
    input: input(),
    timeoutMs: notifyMs,
    limit: notifyFloodBytes,
  });
  if (readText(`${claim}/by`, 100)?.trim() !== word) return { is: exists(claim) ? 'taken' : 'failed' };
  const printed = [answer.stdout, answer.stderr].map((bytes) =>
    plainText(withoutUs(bytes.toString('utf8'), claim)).trim(),
  );
  const output = excerpt([...printed, answer.reason ?? ''].filter((part) => part !== '').join('\n'), notifyBytes);
  return { is: 'told', fields: { key, code: answer.code, how: answer.how, output } };
}

/** A program that cannot be started: the shell says so in the name of our claim, which is nobody's business. */
function withoutUs(text: string, claim: string): string {
  const [first = '', ...rest] = text.split(`${claim}: `);
  return first + rest.map((part) => part.replace(/^(?:line )?\d+: (?:exec: )?/, '')).join('');
}
