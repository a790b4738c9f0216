// What is looked for in a body: a text, a pattern, a value of its JSON. Only the beginning is there, and that is said.
import { excerpt, plainText } from '../core/excerpt.ts';
import { formatSize } from '../core/size.ts';
import type { HttpHead } from '../platform/http.ts';
import type { BodyRead } from '../platform/http-body.ts';
import { matchPattern } from '../platform/matching.ts';
import type { HttpInput } from './http-words.ts';
import type { Trouble } from './watch.ts';

export interface TextJudgement {
  /** What does not hold, in words. */
  unmet: string[];
  /** The value at --field: bounded, as text. */
  found?: string;
  trouble?: Pick<Trouble, 'cause' | 'message'>;
}

const shownBytes = 60;

export async function judgeText(input: HttpInput, head: HttpHead, body: BodyRead): Promise<TextJudgement> {
  const encoding = head.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    const message = `the body is packed (${excerpt(plainText(encoding), 20)}) although that was not asked for`;
    return { unmet: [], trouble: { cause: 'shape', message } };
  }
  const text = decode(body.bytes, head.headers['content-type']);
  const unmet: string[] = [];
  let found: string | undefined;
  if (input.contains !== null && !text.includes(input.contains)) unmet.push(`no ${quote(input.contains)} in it`);
  if (input.matches !== null) {
    const answer = await matchPattern(input.matches, text);
    if (answer === 'slow')
      return { unmet, trouble: { cause: 'failed', message: `${quote(input.matches)} takes too long on this body` } };
    if (!answer) unmet.push(`nothing in it matches ${quote(input.matches)}`);
  }
  if (input.field) {
    const value = valueAt(text, input.field.keys);
    found = value.found;
    if (found !== input.field.value)
      unmet.push(value.fault ?? `${input.field.keys.join('.')} is ${shown(found ?? '')}`);
  }
  if (body.wasCut && unmet[0] !== undefined) unmet[0] += ` (in the first ${formatSize(body.bytes.length)})`;
  return { unmet, ...(found === undefined ? {} : { found: shown(found) }) };
}

function valueAt(text: string, keys: readonly string[]): { found?: string; fault?: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'it is no JSON' };
  }
  for (const [index, key] of keys.entries()) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      return { fault: `there is no ${shown(keys.slice(0, index + 1).join('.'))} in it` };
    value = (value as Record<string, unknown>)[key];
  }
  return { found: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** In the charset that the answer names, else UTF-8. */
function decode(bytes: Uint8Array, type: string | undefined): string {
  const [, charset = 'utf-8'] = /;\s*charset="?([\w.:-]+)/i.exec(type ?? '') ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function shown(text: string): string {
  return excerpt(plainText(text).replaceAll('\n', ' '), shownBytes);
}

function quote(text: string): string {
  return JSON.stringify(excerpt(text, shownBytes));
}
