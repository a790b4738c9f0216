// Runs a small program of a job's own (a probe, gh, npm, a notifier): bounded in time and output, in a session of its own, and with
// everything that it left behind ended before the answer is given. Not for the job's command, which belongs to the shim.
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { toolGraceMs } from '../core/limits.ts';
import type { Environment } from './env.ts';
import { noteToolSession } from './tool-sessions.ts';

export interface ToolCall {
  /** Absolute path. */
  program: string;
  args: readonly string[];
  /** An existing folder. */
  cwd: string;
  environment: Environment;
  /** What it gets as stdin; without it, nothing. */
  input?: string;
  /** Then TERM, and KILL a second later. */
  timeoutMs: number;
  /** Of stdout and of stderr, bytes; whoever prints more is ended. */
  limit: number;
  /** Ends it early. */
  signal?: AbortSignal;
  /** Whoever breaks it off cannot wait: KILL at once instead of TERM first. */
  killOnAbort?: boolean;
}

export interface ToolAnswer {
  /** `failed`: it could not be started at all (`reason` in the system's word). */
  how: 'exited' | 'timeout' | 'flooded' | 'aborted' | 'failed';
  /** Of the program, 128+n for a death by signal; null unless it exited. */
  code: number | null;
  reason: string | null;
  /** At most `limit` bytes each. */
  stdout: Buffer;
  stderr: Buffer;
}

/**
 * The shell is the leader of the group and stays until the end, also through our TERM and our own death (traps, which the program does not
 * inherit): as long as we have not seen its end, its number is nobody else's, and KILL can still reach whoever ignores TERM. It says on
 * descriptor 3 how the program ended, and then ends its group, so that nothing left behind holds the output open.
 */
const script = 'trap : TERM PIPE; "$0" "$@" 3>&-; echo $? >&3; kill -s KILL -- -$$';

/** Never throws. */
export function runTool(call: ToolCall): Promise<ToolAnswer> {
  return new Promise((resolve) => {
    const kept = {
      stdout: collector(call.limit, () => end('flooded')),
      stderr: collector(call.limit, () => end('flooded')),
    };
    let how: ToolAnswer['how'] = 'exited';
    let status = '';
    let hasEnded = false;
    let killer: NodeJS.Timeout | undefined;
    let holder: NodeJS.Timeout | undefined;
    const child = spawn('/bin/sh', ['-c', script, call.program, ...call.args], {
      cwd: call.cwd,
      env: call.environment,
      detached: true,
      stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const forgetSession = noteToolSession(child.pid);
    const signalGroup = (name: NodeJS.Signals): void => {
      // Not reaped yet, so the number is still that of our child.
      if (hasEnded || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      try {
        process.kill(-child.pid, name);
      } catch {
        // It is ending by itself.
      }
    };
    const end = (reason: ToolAnswer['how']): void => {
      if (how !== 'exited' || hasEnded) return;
      how = reason;
      signalGroup('SIGTERM');
      killer = setTimeout(() => signalGroup('SIGKILL'), toolGraceMs);
    };
    const onAbort = (): void => {
      if (call.killOnAbort) signalGroup('SIGKILL');
      end('aborted');
    };
    const clock = setTimeout(() => end('timeout'), call.timeoutMs);
    const finish = (answer: Pick<ToolAnswer, 'how' | 'code' | 'reason'>): void => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(clock);
      clearTimeout(killer);
      clearTimeout(holder);
      call.signal?.removeEventListener('abort', onAbort);
      forgetSession();
      resolve({ ...answer, stdout: kept.stdout.bytes(), stderr: kept.stderr.bytes() });
    };
    call.signal?.addEventListener('abort', onAbort);
    child.stdin?.on('error', () => undefined).end(call.input);
    child.stdout?.on('data', kept.stdout.take);
    child.stderr?.on('data', kept.stderr.take);
    (child.stdio[3] as Readable | null)?.on('data', (bytes: Buffer) => {
      status += bytes.toString();
    });
    child.once('error', (error) => finish({ how: 'failed', code: null, reason: error.message }));
    const conclude = (): void => {
      const code = how === 'exited' && /^\d+\n$/.test(status) ? Number(status) : null;
      finish({ how, code, reason: null });
    };
    child.once('close', conclude);
    // What it left in a session of its own is out of reach, and may hold the output open for ever.
    child.once('exit', () => {
      holder = setTimeout(() => {
        for (const stream of [child.stdout, child.stderr, child.stdio[3]]) stream?.destroy();
        conclude();
      }, toolGraceMs);
    });
    if (call.signal?.aborted) onAbort();
  });
}

function collector(limit: number, flooded: () => void): { take: (bytes: Buffer) => void; bytes: () => Buffer } {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    take(bytes) {
      const room = limit - size;
      if (room > 0) chunks.push(bytes.subarray(0, room));
      size += bytes.length;
      if (size > limit) flooded();
    },
    bytes: () => Buffer.concat(chunks),
  };
}
