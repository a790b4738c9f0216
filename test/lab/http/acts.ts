/**
 * What the bad server does on each path. The slow ones go on for ever: an end of theirs is always the client's.
 */

import type { Socket } from 'node:net';
import { setInterval } from 'node:timers';

export interface Asked {
  socket: Socket;
  url: URL;
  /** The how many-th request for this path it is, from 1. */
  count: number;
  headers: Record<string, string>;
  /** Of the server itself. */
  origin: string;
}

export function send(
  socket: Socket,
  status: number,
  headers: Record<string, string>,
  body: string | Buffer = '',
): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`);
  socket.write(body);
}

export function sendPlain(socket: Socket, status: number, body: string, headers: Record<string, string> = {}): void {
  send(
    socket,
    status,
    { 'content-type': 'text/plain', 'content-length': String(Buffer.byteLength(body)), ...headers },
    body,
  );
  socket.end();
}

function sendJson(socket: Socket, status: number, value: unknown): void {
  sendPlain(socket, status, JSON.stringify(value), { 'content-type': 'application/json' });
}

function drip(socket: Socket, text: () => string): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(text())), 10);
  socket.on('close', () => clearInterval(timer));
}

function redirect(socket: Socket, location: string, status = 302): void {
  sendPlain(socket, status, '', { location });
}

export const acts: Record<string, (asked: Asked) => void> = {
  '/ok': ({ socket }) => sendPlain(socket, 200, 'all is well\nstatus: ready\n'),
  '/json': ({ socket, count }) =>
    sendJson(socket, 200, { status: count > 1 ? 'ready' : 'building', parts: [{ ok: true, size: 3 }], n: null }),
  '/missing': ({ socket }) => sendJson(socket, 404, { error: 'not found' }),
  '/gone': ({ socket }) => sendPlain(socket, 410, 'gone'),
  '/broken': ({ socket }) => sendPlain(socket, 500, 'oh no'),
  '/busy': ({ socket }) => sendPlain(socket, 503, 'later', { 'retry-after': '7' }),
  '/busy-date': ({ socket, url }) =>
    sendPlain(socket, 503, 'later', { 'retry-after': url.searchParams.get('at') ?? '' }),
  '/limited': ({ socket }) => sendPlain(socket, 429, 'slower', { 'retry-after': '120' }),
  '/limited-403': ({ socket }) => sendPlain(socket, 403, 'slower', { 'x-ratelimit-remaining': '0' }),
  '/login': ({ socket }) => sendPlain(socket, 401, 'who are you', { 'www-authenticate': 'Basic realm="x"' }),
  '/forbidden': ({ socket }) => sendPlain(socket, 403, 'no'),
  // Slow, endless, silent.
  '/silent': () => undefined,
  '/slow-headers': ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
    drip(socket, () => 'x');
  },
  '/slow-body': ({ socket }) => {
    send(socket, 200, { 'content-type': 'text/plain', 'content-length': '1000000' });
    drip(socket, () => '.');
  },
  '/endless': ({ socket }) => {
    send(socket, 200, { 'content-type': 'text/plain' });
    const block = Buffer.alloc(64 * 1024, 'endless ');
    const push = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', push);
    push();
  },
  // Cut off, too long, no HTTP.
  '/reset': ({ socket }) => socket.resetAndDestroy(),
  '/reset-body': ({ socket }) => {
    send(socket, 200, { 'content-length': '1000' }, 'a beginning');
    setTimeout(() => socket.resetAndDestroy(), 20);
  },
  '/short': ({ socket }) => {
    send(socket, 200, { 'content-length': '1000' }, 'a beginning');
    socket.end();
  },
  '/too-much': ({ socket }) => {
    send(socket, 200, { 'content-length': '4' }, 'good, and more than was said');
    socket.end();
  },
  '/huge-headers': ({ socket }) => sendPlain(socket, 200, 'x', { 'x-huge': 'h'.repeat(100_000) }),
  '/garbage': ({ socket }) => socket.end('\u0000\u0001\u0002 hello, this is no HTTP\r\n\r\n'),
  '/packed': ({ socket }) => sendPlain(socket, 200, 'zzzz', { 'content-encoding': 'gzip' }),
  // Redirects.
  '/hop': ({ socket, url }) => {
    const left = Number(url.searchParams.get('left') ?? '0');
    redirect(socket, left > 0 ? `/hop?left=${left - 1}` : '/ok', left % 2 ? 301 : 307);
  },
  '/circle': ({ socket }) => redirect(socket, '/circle-back'),
  '/circle-back': ({ socket }) => redirect(socket, '/circle'),
  '/to': ({ socket, url }) => redirect(socket, url.searchParams.get('url') ?? ''),
  '/moved-nowhere': ({ socket }) => sendPlain(socket, 304, ''),
  // What changes.
  '/clock': ({ socket, count }) => sendPlain(socket, 200, `request ${count}\n`),
  '/etag': ({ socket, url, count }) =>
    sendPlain(socket, 200, `request ${count}\n`, {
      etag: count > Number(url.searchParams.get('same') ?? '1') ? '"two"' : '"one"',
    }),
  '/modified': ({ socket, count }) =>
    sendPlain(socket, 200, `request ${count}\n`, { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }),
  '/headers': ({ socket, headers }) => sendJson(socket, 200, headers),
};
