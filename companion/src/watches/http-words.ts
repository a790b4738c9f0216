// What a caller may say of an http watch, and what a look is given of it. Everything that can never hold is refused here.
import { usageError } from '../core/errors.ts';
import type { Given, OptionTable } from '../core/option-table.ts';
import { parsePattern } from '../core/pattern.ts';
import { parseAddress, shownAddress } from './http-address.ts';
import { type HeaderPlan, parseHeaders } from './http-headers.ts';

/** In the spec, hence plain JSON. */
export interface HttpInput extends Record<string, unknown> {
  url: string;
  /** Statuses as given (`200`, `2xx`); null: 2xx, or any with `changed` alone. */
  met: string[] | null;
  fail: string[];
  /** An answer, and not the one that is waited for, whatever it means elsewhere. */
  pending: string[];
  contains: string | null;
  matches: string | null;
  field: { keys: string[]; value: string } | null;
  /** Lower case. */
  sha256: string | null;
  changed: boolean;
  headers: HeaderPlan;
}

export const httpOptions = {
  status: { kind: 'text', value: 'LIST', help: 'statuses that are waited for: 200, 2xx, 301,302 (default 2xx)' },
  contains: { kind: 'text', value: 'TEXT', help: 'the body has this text in it (first 1 MiB)' },
  matches: { kind: 'text', value: 'REGEX', help: 'the body matches; ^ and $ are ends of lines (first 1 MiB)' },
  field: { kind: 'text', value: 'KEY.KEY=VALUE', help: 'the body is JSON with this value there' },
  sha256: { kind: 'text', value: 'HEX', help: 'the body has this digest (up to 1 GiB)' },
  changed: { kind: 'flag', help: 'the answer differs from the one of the first look' },
  'fail-status': { kind: 'text', value: 'LIST', help: 'statuses that end the watch as failed' },
  'pending-status': { kind: 'text', value: 'LIST', help: 'statuses that only mean "not yet", such as 403 or 500' },
  header: {
    kind: 'list',
    value: "'NAME: VALUE'",
    help: 'send this header too; it stands in the record, so no secrets',
  },
  'header-env': {
    kind: 'list',
    value: 'NAME=VARIABLE',
    help: 'send this header with the value of an environment variable, which is never recorded',
  },
} as const satisfies OptionTable;

export function parseHttp(given: Given): { input: HttpInput; words: string } {
  const url = parseAddress(given.words[0] ?? '');
  const statuses = {
    status: parseStatuses(given, 'status'),
    'fail-status': parseStatuses(given, 'fail-status') ?? [],
    'pending-status': parseStatuses(given, 'pending-status') ?? [],
  };
  requireApart(statuses);
  const contains = given.text('contains') ?? null;
  if (contains === '')
    throw usageError('cannot take --contains: an empty text is in every answer; give what to look for');
  const pattern = given.text('matches');
  const input: HttpInput = {
    url: url.href,
    met: statuses.status,
    fail: statuses['fail-status'],
    pending: statuses['pending-status'],
    contains,
    matches: pattern === undefined ? null : parsePattern(pattern, '--matches'),
    field: parseField(given.text('field')),
    sha256: parseDigest(given.text('sha256')),
    changed: given.has('changed'),
    headers: parseHeaders(given.texts('header'), given.texts('header-env')),
  };
  return { input, words: wordsOf(input) };
}

export function matchesStatus(list: readonly string[], status: number): boolean {
  return list.includes(String(status)) || list.includes(`${Math.floor(status / 100)}xx`);
}

function parseStatuses(given: Given, option: string): string[] | null {
  const text = given.text(option);
  if (text === undefined) return null;
  const parts = text.split(',').map((part) => part.trim());
  const odd = parts.find((part) => !/^[2-5](?:\d\d|xx)$/.test(part));
  if (odd !== undefined) {
    throw usageError(
      `cannot take --${option} ${JSON.stringify(text)}: ${JSON.stringify(odd)} is no status; allowed: 200 to 599, 2xx to 5xx, several with commas`,
    );
  }
  return [...new Set(parts)];
}

function requireApart(lists: Record<string, string[] | null>): void {
  const given = Object.entries(lists);
  for (let status = 200; status < 600; status += 1) {
    const [first, second] = given.filter(([, list]) => list !== null && matchesStatus(list, status));
    if (first && second) {
      throw usageError(
        `cannot take --${first[0]} with --${second[0]}: ${status} stands in both; a status has one meaning`,
      );
    }
  }
}

function parseField(text: string | undefined): HttpInput['field'] {
  if (text === undefined) return null;
  const [, way = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const keys = way.split('.');
  if (way === '' || keys.includes('')) {
    throw usageError(
      `cannot take --field ${JSON.stringify(text)}: it names no place; allowed: KEY.KEY=VALUE, written like status=ready or items.0.ok=true`,
    );
  }
  return { keys, value };
}

function parseDigest(text: string | undefined): string | null {
  if (text === undefined) return null;
  const digest = text.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw usageError(`cannot take --sha256 ${JSON.stringify(text)}: allowed are the 64 hex digits of a SHA-256`);
  }
  return digest;
}

function wordsOf(input: HttpInput): string {
  const conditions = [
    input.met && `status ${input.met.join(',')}`,
    input.contains !== null && `contains ${JSON.stringify(input.contains)}`,
    input.matches !== null && `matches ${JSON.stringify(input.matches)}`,
    input.field && `field ${input.field.keys.join('.')}=${input.field.value}`,
    input.sha256 && `sha256 ${input.sha256.slice(0, 12)}`,
    input.changed && 'changed',
  ].filter(Boolean);
  const told = conditions.length > 0 ? conditions.join(', ') : 'status 2xx';
  return `http ${shownAddress(input.url)} (${told})`;
}
