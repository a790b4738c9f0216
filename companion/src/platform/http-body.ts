// Reading an answer's body: its beginning, its digest, both or nothing. Never more in memory than was planned.
import type { IncomingMessage } from 'node:http';

/** Bytes; 0: not wanted. */
export interface BodyPlan {
  /** The beginning, up to this much. */
  keep: number;
  /** SHA-256 of a whole body of up to this much. */
  digest: number;
}

export interface BodyRead {
  /** The first bytes, at most `keep`. */
  bytes: Buffer;
  /** There is more than `bytes`. */
  wasCut: boolean;
  /** Of the whole body; null when it was not wanted, or the body is too long. */
  sha256: string | null;
  /** How much was read; null when nothing was wanted. */
  size: number | null;
}

/** Rejects when the body breaks off. */
export async function readBody(
  incoming: IncomingMessage,
  plan: BodyPlan,
  tell: (bytes: number) => void,
): Promise<BodyRead> {
  const limit = Math.max(plan.keep, plan.digest);
  const chunks: Buffer[] = [];
  if (limit === 0) return { bytes: Buffer.alloc(0), wasCut: true, sha256: null, size: null };
  const digest = plan.digest > 0 ? (await import('node:crypto')).createHash('sha256') : null;
  let size = 0;
  return new Promise((resolve, reject) => {
    const finish = (isWhole: boolean): void => {
      const bytes = Buffer.concat(chunks);
      resolve({ bytes, wasCut: size > bytes.length, sha256: isWhole ? (digest?.digest('hex') ?? null) : null, size });
    };
    incoming.on('data', (chunk: Buffer) => {
      const room = plan.keep - size;
      if (room > 0) chunks.push(chunk.subarray(0, room));
      size += chunk.length;
      tell(size);
      if (size > limit) {
        incoming.destroy();
        finish(false);
      } else digest?.update(chunk);
    });
    incoming.once('end', () => finish(true));
    incoming.once('error', reject);
    incoming.once('close', () => reject(new Error('the connection was closed')));
  });
}
