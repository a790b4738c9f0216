// One notice: the user's own program is told, once, of one end or one event. Whoever sends it - the job's worker, a replacement, a process that a
// reader started - the claim is made by the very process that becomes the notifier (`ln`, then `exec`), so none is repeated and none is
// forgotten between a claim and a start. It appears whole (jobs/notice-claim.ts).
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Spec } from '../core/job.ts';
import { notifyBytes, notifyFloodBytes, notifyMs } from '../core/limits.ts';
import { toHex } from '../core/sha256.ts';
import { claimPath, claimSeen, claimText, makeRoom } from '../jobs/notice-claim.ts';
import { notifierEnvironment } from '../platform/env.ts';
import { createFile, readText, removeFile } from '../platform/files.ts';
import { isFolder } from '../platform/folders.ts';
import { randomBytes } from '../platform/random.ts';
import { runTool } from '../platform/tool.ts';
import type { JobPaths } from '../store/layout.ts';

/**
 * $0 is the claim, $1 its text as a file of ours, which a link of that name becomes. `ln` would go into a folder. Should we die, a clock of the notifier's own group ends that group; it is
 * nobody's child, so that a notifier that waits for its children does not wait for it.
 */
const script = `[ ! -e "$0" ] && [ ! -L "$0" ] && ln "$1" "$0" 2>/dev/null || exit 121
rm -f "$1"
shift
({ sleep ${Math.ceil(notifyMs / 1000) + 5}; kill -s KILL 0; } </dev/null >/dev/null 2>&1 &)
exec "$@"`;

export type Told =
  | { is: 'told'; fields: { key: string; code: number | null; how: string; output: string } }
  /** Somebody else told it, or does so now. */
  | { is: 'taken' }
  /** Nobody could be told: no claim could be made. */
  | { is: 'failed' };

/** `input` is made only when it is needed. Never throws for what the notifier does. */
export async function sendNotice(
  job: { paths: JobPaths; spec: Spec },
  key: string,
  input: () => string,
): Promise<Told> {
  const { paths, spec } = job;
  if (!spec.notify || claimSeen(job, key) === 'told') return { is: 'taken' };
  const claim = claimPath(paths, key);
  const word = toHex(randomBytes(8));
  const text = claimText(job, key, word);
  if (text === undefined) return { is: 'failed' };
  const own = `${claim}.${word}`;
  try {
    makeRoom(job, key);
    if (!createFile(own, text, { sync: false })) return { is: 'failed' };
  } catch {
    // No room, or nothing of ours may be made there.
    return { is: 'failed' };
  }
  const answer = await runTool({
    program: '/bin/sh',
    args: ['-c', script, claim, own, ...spec.notify],
    cwd: isFolder(spec.cwd) ? spec.cwd : '/',
    environment: notifierEnvironment(spec.id),
    input: input(),
    timeoutMs: notifyMs,
    limit: notifyFloodBytes,
  });
  removeFile(own);
  if (readText(claim, 200) !== text) return { is: claimSeen(job, key) === 'told' ? 'taken' : 'failed' };
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
