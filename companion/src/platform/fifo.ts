// A FIFO as a sign of life: whoever holds it open and dies, even by SIGKILL, wakes everybody who watches it within
// milliseconds. Nothing is ever written into it. Trap: opened while nobody holds it, it tells nothing, ever. So: open first,
// then compare the identity on disk, then wait; and keep a slow poll for file systems without FIFOs.
import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { errnoOf } from '../core/errors.ts';
import { toolEnvironment } from './env.ts';

const flags = constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Make a FIFO, 0600. False when it cannot be made here; true when one is there. */
export async function makeFifo(file: string): Promise<boolean> {
  // Loaded only here: whoever waits needs no child_process.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const maker = spawn('mkfifo', ['-m', '600', file], { env: toolEnvironment(), stdio: 'ignore' });
    maker.once('error', () => resolve(isFifo(file)));
    maker.once('exit', () => resolve(isFifo(file)));
  });
}

/** Hold a FIFO open until the process ends or `close` is called. Undefined when there is no FIFO. */
export function holdFifo(file: string): (() => void) | undefined {
  const fd = openFifo(file, constants.O_RDWR);
  if (fd === undefined) return undefined;
  chmodSync(file, 0o600);
  return () => closeSync(fd);
}

/** Call `onEnd` once when the last holder lets go. Undefined when there is no FIFO. */
export async function watchFifo(file: string, onEnd: () => void): Promise<(() => void) | undefined> {
  const fd = openFifo(file, constants.O_RDONLY);
  if (fd === undefined) return undefined;
  const { Socket } = await import('node:net');
  const socket = new Socket({ fd, readable: true, writable: false });
  let done = false;
  const end = (): void => {
    if (!done) onEnd();
    done = true;
  };
  socket.on('error', end).on('end', end).on('close', end);
  socket.resume();
  return () => {
    done = true;
    socket.destroy();
  };
}

function openFifo(file: string, mode: number): number | undefined {
  let fd: number;
  try {
    fd = openSync(file, mode | flags);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'EROFS', 'EPERM'].includes(errnoOf(error) ?? ''))
      return undefined;
    throw error;
  }
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  return undefined;
}

function isFifo(file: string): boolean {
  const fd = openFifo(file, constants.O_RDONLY);
  if (fd === undefined) return false;
  closeSync(fd);
  return true;
}
