/**
 * A server on loopback that behaves badly in every way that a watch may meet, byte by byte on the socket, because a well-bred HTTP
 * library would not let it. `?good-after=N` on any path: from the N+1st request for it on, a plain 200. Knows how often each path
 * was asked, with which headers, and how many connections are open now.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Asked, acts, sendPlain } from './acts.ts';

export interface BadServer {
  /** `http://127.0.0.1:PORT`, no slash at the end. */
  readonly origin: string;
  readonly port: number;
  /** How often a path (without its query) was asked. */
  count(path: string): number;
  /** Of the latest request. */
  headers(): Record<string, string>;
  open(): number;
  close(): Promise<void>;
}

export interface BadServerOptions {
  tls?: { key: string; cert: string };
  host?: string;
  /** Instead of the listed ones. */
  act?: (asked: Asked) => void;
}

export async function startBadServer({ tls, host = '127.0.0.1', act }: BadServerOptions = {}): Promise<BadServer> {
  const sockets = new Set<Socket>();
  const counts = new Map<string, number>();
  let latest: Record<string, string> = {};
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let text = '';
    const onData = (bytes: Buffer): void => {
      text += bytes.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      socket.off('data', onData).resume();
      const [first = '', ...lines] = text.split('\r\n');
      const url = new URL(first.split(' ')[1] ?? '/', 'http://server');
      const count = (counts.get(url.pathname) ?? 0) + 1;
      counts.set(url.pathname, count);
      latest = Object.fromEntries(lines.filter(Boolean).map((line) => splitHeader(line)));
      const asked: Asked = { socket, url, count, headers: latest, origin };
      const isGood = count > Number(url.searchParams.get('good-after') ?? Number.POSITIVE_INFINITY);
      const chosen = act ?? acts[url.pathname] ?? acts['/missing'];
      if (isGood) sendPlain(socket, 200, 'good now\n');
      else chosen?.(asked);
    };
    socket.on('data', onData);
  };
  // A client that does not trust the certificate ends the handshake.
  const server: Server = tls
    ? createTlsServer(tls, onSocket).on('tlsClientError', () => undefined)
    : createServer(onSocket);
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const origin = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    origin,
    port,
    count: (path) => counts.get(path) ?? 0,
    headers: () => latest,
    open: () => sockets.size,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function splitHeader(line: string): [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}
