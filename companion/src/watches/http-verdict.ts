// What an answer means for an http watch: a refused login, trouble of the server's, or a look with its verdict.
import { httpDigestBytes } from '../core/limits.ts';
import { formatSize } from '../core/size.ts';
import type { HttpAnswer, HttpHead } from '../platform/http.ts';
import { changeOf, cursorOf, knownDigest, validatorOf } from './http-change.ts';
import { judgeText, type TextJudgement } from './http-text.ts';
import { factsOf, tellAnswer, withReason } from './http-told.ts';
import { type HttpInput, matchesStatus } from './http-words.ts';
import { retryAfterOf } from './retry-after.ts';
import type { Cursor, Fault, Look, Trouble } from './watch.ts';

type Answered = Extract<HttpAnswer, { how: 'answered' }>;

/** The caller has said what this status means. */
export function isNamed(input: HttpInput, status: number): boolean {
  return [input.met ?? [], input.fail, input.pending].some((list) => matchesStatus(list, status));
}

/** No more of a body than the conditions need; nothing of an answer whose status has decided already. */
export function wantsOf(input: HttpInput, head: HttpHead, cursor: Cursor | null): { text: boolean; digest: boolean } {
  const isTooLong = Number(head.headers['content-length']) > httpDigestBytes;
  return {
    text: isAccepted(input, head.status) && wantsText(input),
    digest: needsDigest(input, head) && !isTooLong && knownDigest(head, cursor, input.sha256) === null,
  };
}

export async function judgeAnswer(
  input: HttpInput,
  { head, body }: Answered,
  { cursor, nowMs }: { cursor: Cursor | null; nowMs: number },
): Promise<Look | Trouble | Fault> {
  const { status } = head;
  const told = tellAnswer(input.url, head, body.size);
  const refusal = isNamed(input, status) ? undefined : refusalOf(head, told, nowMs);
  if (refusal) return refusal;
  const isOk = isAccepted(input, status);
  const text: TextJudgement = isOk && wantsText(input) ? await judgeText(input, head, body) : { unmet: [] };
  if (text.trouble) return troubleOf(text.trouble.cause, withReason(told, text.trouble.message));
  const digest = body.sha256 ?? knownDigest(head, cursor, input.sha256);
  if (needsDigest(input, head) && digest === null)
    return troubleOf('shape', withReason(told, `no digest is taken of more than ${formatSize(httpDigestBytes)}`));

  const change = input.changed ? changeOf(head, { isWhole: isWhole(input, status), digest, cursor }) : null;
  const unmet = [...text.unmet];
  if (isOk && input.sha256 !== null && digest !== input.sha256) unmet.push(`its sha256 is ${digest?.slice(0, 12)}...`);
  const isHeld = isOk && unmet.length === 0;
  const isMet = isHeld && (change === null || change.word === 'changed');
  const verdict = matchesStatus(input.fail, status) ? 'failed' : isMet ? 'met' : 'pending';
  const found = [status, text.found, input.sha256 === null ? undefined : digest].filter((part) => part !== undefined);
  return {
    kind: 'look',
    verdict,
    word: change?.word ?? String(status),
    evidence: withReason(told, isMet ? metWords(input, text) : (unmet[0] ?? change?.word)),
    // The change that was told and the look after it have the same key, so that only the next change is news again.
    key: [change ? `${isHeld} ${change.print}` : verdict, ...found].join(' '),
    facts: factsOf(head, { size: body.size, digest, value: text.found }),
    cursor: cursorOf(head, { digest: input.sha256 === null ? null : digest, change, isMet }),
  };
}

/** The end of the watch, or a server that cannot answer now; undefined: it is an answer. */
function refusalOf({ status, headers }: HttpHead, told: string, nowMs: number): Trouble | Fault | undefined {
  const waitMs = retryAfterOf(headers['retry-after'], nowMs);
  const isLimited = status === 403 && (waitMs !== null || headers['x-ratelimit-remaining'] === '0');
  if (status === 429 || isLimited) return troubleOf('rate_limit', told, waitMs);
  if (status === 408 || status === 425 || status >= 500) return troubleOf('server', told, waitMs);
  if (status !== 401 && status !== 403 && status !== 407) return undefined;
  const hint = `the login is refused (if ${status} means "not yet" here: --pending-status ${status})`;
  return { kind: 'fault', cause: 'auth', message: withReason(told, hint) };
}

/** As far as the status goes, the condition holds. */
function isAccepted(input: HttpInput, status: number): boolean {
  if (matchesStatus(input.fail, status) || matchesStatus(input.pending, status)) return false;
  if (input.met) return matchesStatus(input.met, status);
  const isOnlyChange = input.changed && !wantsText(input) && input.sha256 === null;
  return isOnlyChange || isSuccess(status);
}

function wantsText(input: HttpInput): boolean {
  return input.contains !== null || input.matches !== null || input.field !== null;
}

function needsDigest(input: HttpInput, head: HttpHead): boolean {
  const forChange = input.changed && isWhole(input, head.status) && validatorOf(head) === null;
  return forChange || (input.sha256 !== null && isAccepted(input, head.status));
}

/** Error pages may be different each time (the id of a request): their status is what they have to say. */
function isWhole(input: HttpInput, status: number): boolean {
  return isSuccess(status) || (input.met !== null && matchesStatus(input.met, status));
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function troubleOf(cause: Trouble['cause'], message: string, retryAfterMs: number | null = null): Trouble {
  return { kind: 'trouble', cause, message, retryAfterMs };
}

function metWords(input: HttpInput, text: TextJudgement): string | undefined {
  if (input.field) return `${input.field.keys.join('.')} is ${text.found}`;
  if (input.sha256) return `its sha256 is ${input.sha256.slice(0, 12)}...`;
  return input.changed ? 'changed' : undefined;
}
