// argv -> command or hidden `_worker` -> reply -> streams and exit code. Nothing else decides the code, and failure is the starting
// value: an event loop that runs dry must not look like success.

import type { Context, Reply } from './commands/command.ts';
import { FaultError } from './core/errors.ts';
import { exitCodes } from './core/exit-codes.ts';

process.exitCode = exitCodes.fault;

// A reader that closes its end early (`| head`) is no error of ours.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

async function main(args: string[]): Promise<void> {
  if (args[0] === '_worker') {
    const { runWorker } = await import('./worker/main.ts');
    const isDone = await runWorker(args[1] ?? '', args[2] ?? '', (text) => process.stderr.write(text));
    process.exit(isDone ? 0 : 70);
  }
  const { dispatch } = await import('./commands/dispatch.ts');
  const reply = await dispatch(args, makeContext(), __VERSION__);
  print(reply);
  process.exitCode = reply.code;
}

function makeContext(): Omit<Context, 'root'> {
  return {
    cwd: process.cwd(),
    isTerminal: process.stdout.isTTY === true,
    width: process.stdout.columns ?? 1000,
    readStdin,
    tell: (text) => process.stderr.write(`${text}\n`),
  };
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function print(reply: Reply): void {
  if (reply.json !== undefined) process.stdout.write(`${JSON.stringify(reply.json)}\n`);
  else if (reply.out !== undefined && reply.out.length > 0) process.stdout.write(reply.out);
  for (const note of reply.notes ?? []) process.stderr.write(`${note}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof FaultError) {
    process.stderr.write(`job-companion: ${error.message}\n${error.next === null ? '' : `try: ${error.next}\n`}`);
    if (process.argv.includes('--json')) {
      process.stdout.write(
        `${JSON.stringify({ error: { code: error.code, message: error.message, next: error.next } })}\n`,
      );
    }
  } else {
    process.stderr.write(`job-companion: internal error: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  process.exitCode = exitCodes.fault;
});
