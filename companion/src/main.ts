// argv -> command or hidden `_worker` -> reply -> streams and exit code. Nothing else decides the code, and failure is the starting
// value: an event loop that runs dry must not look like success.

import type { Context, Reply } from './commands/command.ts';
import { errnoOf, FaultError, messageOf } from './core/errors.ts';
import { exitCodes } from './core/exit-codes.ts';
import { makeScreen, type Screen } from './output/screen.ts';
import { cutToWidth } from './output/width.ts';
import { variables } from './platform/env.ts';
import { onResize, terminalOf, writeOut } from './platform/output.ts';

/** A host takes another code of a hook as a failure of its own; a hook has none. */
const fault = process.argv[2] === 'hook' ? exitCodes.done : exitCodes.fault;
process.exitCode = fault;

async function main(args: string[]): Promise<void> {
  if (process.platform !== 'linux') (await import('./platform/install-ps.ts')).installForMac();
  if (args[0] === '_worker') {
    const { runWorker } = await import('./worker/main.ts');
    const isDone = await runWorker(args[1] ?? '', args[2] ?? '', (text) => writeOut(2, text));
    process.exit(isDone ? 0 : 70);
  }
  if (args[0] === '_notify') {
    const { runNotify } = await import('./worker/notify.ts');
    await runNotify(args[1] ?? '', args[2] ?? '');
    process.exit(exitCodes.done);
  }
  const { dispatch } = await import('./commands/dispatch.ts');
  const reply = await dispatch(args, makeContext(), __VERSION__);
  const isTold = print(reply);
  // Everything is written: nothing that still listens may hold the caller up.
  process.exit(isTold ? reply.code : fault);
}

function makeContext(): Omit<Context, 'root'> {
  const terminal = terminalOf(1);
  return {
    cwd: currentFolder(),
    isTerminal: terminal.isTerminal,
    width: terminal.columns,
    readStdin,
    readStdinWithin,
    screen: terminal.isTerminal && !variables.isDumb() ? stdoutScreen() : null,
    live: terminalOf(2).isTerminal ? liveLine : null,
    say: (text) => writeOut(1, text),
    tell: (text) => writeOut(2, `${text}\n`),
  };
}

function stdoutScreen(): Screen {
  return makeScreen({ size: () => terminalOf(1), write: (text) => writeOut(1, text), onResize });
}

/** Cut to the terminal as wide as it is now: a line that wraps could not be taken back. */
function liveLine(text: string): void {
  writeOut(2, `\r\x1b[K${cutToWidth(text, Math.max(20, terminalOf(2).columns - 1))}`);
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new FaultError('preflight', 'cannot work here: the current folder was removed', 'cd to a folder that exists');
  }
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function readStdinWithin(most: number, ms: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (): void => resolve(Buffer.concat(chunks));
    // A process that was not let run for so long still takes what lies in the pipe: timers come before reading.
    const late = (rounds: number): void => void setImmediate(() => (rounds > 0 ? late(rounds - 1) : finish()));
    setTimeout(late, ms, 3);
    process.stdin
      .on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > most) resolve(null);
      })
      .on('end', finish)
      .on('error', () => resolve(null));
  });
}

/** False when stdout did not take it: then it is told on stderr, so that an id is not lost. */
function print(reply: Reply): boolean {
  const isJson = reply.json !== undefined;
  const out = isJson ? `${JSON.stringify(reply.json)}\n` : (reply.out ?? '');
  // The header first: on a terminal both streams are one page.
  for (const note of isJson ? [] : (reply.notes ?? [])) writeOut(2, `${note}\n`);
  try {
    // A reader that left early (`| head`) changes no code, but it has not collected the result.
    if (out.length > 0 && !writeOut(1, out)) return true;
  } catch (error) {
    writeOut(2, `job-companion: cannot write to standard output (${messageOf(error)}); it was to get:\n`);
    writeOut(2, Buffer.from(out).subarray(0, 8192));
    return false;
  }
  reply.afterPrint?.();
  return true;
}

main(process.argv.slice(2)).catch((thrown: unknown) => {
  const error = asFault(thrown);
  const [code, message, next] =
    error instanceof FaultError
      ? [error.code, error.message, error.next]
      : ['internal', `internal error: ${stackOf(error)}`, null];
  process.exitCode = fault;
  writeOut(2, `job-companion: ${message}\n${next === null ? '' : `try: ${next}\n`}`);
  // A host would take any document for an answer.
  if (fault !== exitCodes.done && wantsJson(process.argv.slice(2)))
    writeOut(1, `${JSON.stringify({ error: { code, message, next } })}\n`);
});

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What stands behind `--` belongs to the command that was to be run. */
function wantsJson(args: string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

/** What the system refuses (a full or read-only disk, a folder that is not ours) is no bug of ours. */
function asFault(error: unknown): unknown {
  const refusals = [
    'ENOSPC',
    'EDQUOT',
    'EROFS',
    'EACCES',
    'EPERM',
    'EMFILE',
    'ENFILE',
    'EIO',
    'EAGAIN',
    'ENOMEM',
    'EFBIG',
  ];
  if (error instanceof FaultError || !refusals.includes(errnoOf(error) ?? '')) return error;
  return new FaultError(
    'state_unusable',
    `cannot go on: ${messageOf(error)}`,
    'make room or rights there, or use another place with --state-dir DIR',
  );
}
