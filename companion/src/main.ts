// argv -> command or hidden `_worker` -> reply -> streams and exit code. Nothing else decides the code, and failure is the starting
// value: an event loop that runs dry must not look like success.

import type { Context, Reply } from './commands/command.ts';
import { errnoOf, FaultError, messageOf } from './core/errors.ts';
import { exitCodes } from './core/exit-codes.ts';
import { terminalOf, writeOut } from './platform/output.ts';

process.exitCode = exitCodes.fault;

async function main(args: string[]): Promise<void> {
  if (process.platform !== 'linux') (await import('./platform/install-ps.ts')).installForMac();
  if (args[0] === '_worker') {
    const { runWorker } = await import('./worker/main.ts');
    const isDone = await runWorker(args[1] ?? '', args[2] ?? '', (text) => writeOut(2, text));
    process.exit(isDone ? 0 : 70);
  }
  const { dispatch } = await import('./commands/dispatch.ts');
  const reply = await dispatch(args, makeContext(), __VERSION__);
  print(reply);
  // Everything is written: nothing that still listens may hold the caller up.
  process.exit(reply.code);
}

function makeContext(): Omit<Context, 'root'> {
  const terminal = terminalOf(1);
  return {
    cwd: process.cwd(),
    isTerminal: terminal.isTerminal,
    width: terminal.columns,
    readStdin,
    live: terminalOf(2).isTerminal ? (text) => writeOut(2, `\r\x1b[K${text}`) : null,
    tell: (text) => writeOut(2, `${text}\n`),
  };
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function print(reply: Reply): void {
  if (reply.json !== undefined) writeOut(1, `${JSON.stringify(reply.json)}\n`);
  // The header first: on a terminal both streams are one page.
  for (const note of reply.json === undefined ? (reply.notes ?? []) : []) writeOut(2, `${note}\n`);
  if (reply.json === undefined && reply.out !== undefined && reply.out.length > 0) writeOut(1, reply.out);
}

main(process.argv.slice(2)).catch((thrown: unknown) => {
  const error = asFault(thrown);
  if (error instanceof FaultError) {
    writeOut(2, `job-companion: ${error.message}\n${error.next === null ? '' : `try: ${error.next}\n`}`);
    if (wantsJson(process.argv.slice(2))) {
      writeOut(1, `${JSON.stringify({ error: { code: error.code, message: error.message, next: error.next } })}\n`);
    }
  } else {
    writeOut(2, `job-companion: internal error: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  process.exitCode = exitCodes.fault;
});

/** What stands behind `--` belongs to the command that was to be run. */
function wantsJson(args: string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

/** What the system refuses (a full or read-only disk, a folder that is not ours) is no bug of ours. */
function asFault(error: unknown): unknown {
  const refusals = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'EIO'];
  if (error instanceof FaultError || !refusals.includes(errnoOf(error) ?? '')) return error;
  return new FaultError(
    'state_unusable',
    `cannot go on: ${messageOf(error)}`,
    'make room or rights there, or use another place with --state-dir DIR',
  );
}
