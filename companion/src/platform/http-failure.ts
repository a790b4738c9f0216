// Why a question over http had no answer, in one word for the judge and one sentence for people.
import { formatDuration } from '../core/duration.ts';
import { errnoOf, messageOf } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { formatSize } from '../core/size.ts';
import { variables } from './env.ts';

export interface HttpFailure {
  how: 'failed';
  /** `shape`: what came is no HTTP, or too much of it. `redirect`: it leads nowhere that is followed. */
  cause: 'timeout' | 'aborted' | 'network' | 'certificate' | 'redirect' | 'shape';
  message: string;
}

/** A redirect that is not followed. */
export class StrayError extends Error {}

export interface Attempt {
  /** What was asked last. */
  url: string;
  hasHead: boolean;
  /** Of the body. */
  bytes: number;
  stopped: 'timeout' | 'aborted' | undefined;
  timeoutMs: number;
}

export function failureOf(error: unknown, attempt: Attempt): HttpFailure {
  const fail = (cause: HttpFailure['cause'], message: string): HttpFailure => ({ how: 'failed', cause, message });
  const within = `within ${formatDuration(attempt.timeoutMs)}`;
  if (attempt.stopped === 'aborted') return fail('aborted', 'the look was stopped');
  if (attempt.stopped === 'timeout') {
    const message = attempt.hasHead
      ? `the body did not end ${within} (${formatSize(attempt.bytes)} read)`
      : `no answer ${within}`;
    return fail('timeout', message);
  }
  if (error instanceof StrayError) return fail('redirect', error.message);
  const code = codeOf(error);
  if (code.startsWith('HPE_HEADER_OVERFLOW')) return fail('shape', 'its headers are too long');
  if (code.startsWith('HPE_')) return fail('shape', `what came is no HTTP (${code})`);
  if (isOfCertificate(code)) {
    const hint = /SELF_SIGNED|ISSUER|VERIFY/.test(code)
      ? '; a CA of your own is named by NODE_EXTRA_CA_CERTS at launch'
      : '';
    return fail('certificate', `its certificate is not trusted (${code})${hint}`);
  }
  if (attempt.hasHead) return fail('network', `the body broke off after ${formatSize(attempt.bytes)}`);
  return fail('network', `${wordsOf(error, code)}${proxyHint(attempt.url)}`);
}

/** An address with several numbers fails with one error that holds the others. */
function codeOf(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : undefined;
  return errnoOf(error) ?? errnoOf(inner) ?? '';
}

const known: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name lookup failed for now',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'no way to the host',
  ENETUNREACH: 'no way to the network',
  EPIPE: 'connection reset',
};

function wordsOf(error: unknown, code: string): string {
  const words = known[code];
  return words ? `${words} (${code})` : excerpt(plainText(messageOf(error)).replaceAll('\n', ' '), 120);
}

function isOfCertificate(code: string): boolean {
  return /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_CA|PATH_LENGTH|HOSTNAME_MISMATCH)/.test(
    code,
  );
}

/** Node 20 knows no proxy. Who needs one should not have to guess why nothing answers. */
function proxyHint(url: string): string {
  const scheme = url.startsWith('https:') ? 'https' : 'http';
  const found = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`].find((variable) => variables.isSet(variable));
  return found ? `; asked directly, ${found} is not used` : '';
}
