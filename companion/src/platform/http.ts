// One question over http or https: bounded in time, headers and body, redirects followed, no connection kept. Plain node:http, because
// fetch costs a worker tens of megabytes. It says what came or why nothing came; what that means is the caller's to judge.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { httpHeaderBytes, httpRedirects } from '../core/limits.ts';
import { type BodyPlan, type BodyRead, readBody } from './http-body.ts';
import { failureOf, type HttpFailure, StrayError } from './http-failure.ts';
import { extraTrust } from './trust.ts';

export interface HttpCall {
  /** http or https, without a password. */
  url: string;
  /** Sent to the origin of `url` only, never to where it redirects. */
  headers: Readonly<Record<string, string>>;
  /** All of it together: name lookup, redirects, headers, body. */
  timeoutMs: number;
  /** Ends it early. */
  signal?: AbortSignal;
  /** Statuses that are an answer even when they point elsewhere. */
  isFinal(status: number): boolean;
  /** How much of the body is wanted, once the headers are known. */
  plan(head: HttpHead): BodyPlan;
}

export interface HttpHead {
  status: number;
  headers: IncomingHttpHeaders;
  /** Where the answer came from in the end. */
  url: URL;
  redirects: number;
  /** Some redirect led from https to http. */
  wasDowngraded: boolean;
}

export type HttpAnswer = { how: 'answered'; head: HttpHead; body: BodyRead } | HttpFailure;

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** Never throws, and never takes longer than its time. */
export async function askHttp(call: HttpCall): Promise<HttpAnswer> {
  const stopper = new AbortController();
  const progress = { url: call.url, bytes: 0, hasHead: false };
  let stopped: 'timeout' | 'aborted' | undefined;
  const stop = (why: 'timeout' | 'aborted') => (): void => {
    stopped ??= why;
    stopper.abort();
  };
  const onAbort = stop('aborted');
  const clock = setTimeout(stop('timeout'), call.timeoutMs);
  call.signal?.addEventListener('abort', onAbort);
  if (call.signal?.aborted) onAbort();
  // Whatever becomes of the connection, the time is kept.
  const early = new Promise<never>((_, reject) => {
    const tell = (): void => reject(new Error('stopped'));
    if (stopper.signal.aborted) tell();
    stopper.signal.addEventListener('abort', tell);
  });
  const answer = follow(call, stopper.signal, progress);
  answer.catch(() => undefined);
  early.catch(() => undefined);
  try {
    return await Promise.race([answer, early]);
  } catch (error) {
    return failureOf(error, { ...progress, stopped, timeoutMs: call.timeoutMs });
  } finally {
    clearTimeout(clock);
    call.signal?.removeEventListener('abort', onAbort);
    // Closes the connection of an answer of which no more is wanted.
    stopper.abort();
  }
}

interface Progress {
  url: string;
  bytes: number;
  hasHead: boolean;
}

async function follow(call: HttpCall, signal: AbortSignal, progress: Progress): Promise<HttpAnswer> {
  const first = new URL(call.url);
  const seen = new Set([first.href]);
  let url = first;
  let wasDowngraded = false;
  for (let redirects = 0; ; redirects += 1) {
    progress.url = url.href;
    const incoming = await open(url, url.origin === first.origin ? call.headers : {}, signal);
    const status = incoming.statusCode ?? 0;
    const location = incoming.headers.location;
    if (location !== undefined && redirectStatuses.has(status) && !call.isFinal(status)) {
      incoming.destroy();
      const next = nextUrl(url, location);
      if (seen.has(next.href)) throw new StrayError('it redirects in a circle');
      if (redirects === httpRedirects) throw new StrayError(`it redirects more than ${httpRedirects} times`);
      seen.add(next.href);
      wasDowngraded ||= url.protocol === 'https:' && next.protocol === 'http:';
      url = next;
      continue;
    }
    progress.hasHead = true;
    const head = { status, headers: incoming.headers, url, redirects, wasDowngraded };
    const body = await readBody(incoming, call.plan(head), (bytes) => {
      progress.bytes = bytes;
    });
    return { how: 'answered', head, body };
  }
}

function nextUrl(from: URL, location: string): URL {
  let next: URL;
  try {
    next = new URL(location, from);
  } catch {
    throw new StrayError('it redirects to something that is no address');
  }
  if (next.protocol !== 'http:' && next.protocol !== 'https:')
    throw new StrayError(`it redirects to ${next.protocol}, and only http and https are followed`);
  if (next.username || next.password) throw new StrayError('it redirects to an address with a password in it');
  next.hash = '';
  return next;
}

/** One connection, one request, up to the end of the headers. */
async function open(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const trust = isSecure ? await extraTrust() : undefined;
  const { request } = isSecure ? await import('node:https') : await import('node:http');
  const options = {
    method: 'GET',
    headers: {
      'user-agent': `job-companion/${__VERSION__}`,
      accept: '*/*',
      // A digest, and a text that is looked for, mean the bytes as they are.
      'accept-encoding': 'identity',
      'cache-control': 'no-cache',
      ...headers,
    },
    // No agent: the connection is closed after the answer.
    agent: false,
    maxHeaderSize: httpHeaderBytes,
    // Node's 250 ms for each address of a host are too short for a slow network.
    autoSelectFamilyAttemptTimeout: 1000,
    signal,
    ...(trust ? { secureContext: trust } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options);
    sent.once('response', (incoming) => {
      // Whoever reads the body listens too; this one keeps a late error from ending the process.
      incoming.on('error', () => undefined);
      resolve(incoming);
    });
    sent.on('error', reject);
    sent.end();
  });
}
