// Why `gh` gave no answer, from its exit and its own words: never to be had (a fault), or worth another try (trouble). gh has exit code 4 for a
// missing login and 1 for all else, so the words decide; those of GitHub come through as `HTTP 502: ...` or `GraphQL: ...`.
import { excerpt, plainText } from '../../core/excerpt.ts';
import { ghResetMs } from '../../core/limits.ts';
import type { ToolAnswer } from '../../platform/tool.ts';
import type { Fault, Tools, Trouble } from '../watch.ts';

export type Failure = Trouble | Fault;

/** In order: a rate limit comes as a 403 too, and "no repository here" names `gh auth login` too. */
const words: [pattern: RegExp, kind: Trouble['cause'] | Fault['cause'], says: string][] = [
  [/rate limit|HTTP 429|submitted too quickly|abuse detection/i, 'rate_limit', 'GitHub limits the rate'],
  [
    /not a git repository|no git remotes|none of the git remotes|determine base repo|no default remote repository/i,
    'refused',
    'gh finds no repository in this folder; name it with --repo OWNER/REPO',
  ],
  [/unknown (?:flag|command|shorthand)|unknown JSON field/i, 'refused', 'this gh is too old; install a newer one'],
  [
    /HTTP 401|bad credentials|gh auth (?:login|refresh)|\bSAML\b|required scopes|resource not accessible|HTTP 403/i,
    'auth',
    'GitHub refused the login of gh',
  ],
  [
    /could not resolve to a|HTTP 404|no pull requests? found/i,
    'not_found',
    'GitHub does not have it, or not for this login',
  ],
  [/HTTP 5\d\d|status code: 5\d\d|something went wrong/i, 'server', 'GitHub fails'],
  [
    /i\/o timeout|deadline exceeded|handshake timeout|Client\.Timeout|timed? ?out/i,
    'timeout',
    'GitHub did not answer in time',
  ],
  [
    /error connecting|dial tcp|connection re(?:fused|set)|no such host|unreachable|\bEOF\b|proxyconnect|x509|githubstatus\.com/i,
    'network',
    'GitHub cannot be reached',
  ],
];

const faults: readonly string[] = ['auth', 'not_found', 'refused', 'tool_missing'] satisfies Fault['cause'][];

export function failureOf(answer: ToolAnswer, tools: Pick<Tools, 'nowMs'>): Failure {
  if (answer.how === 'timeout') return trouble('timeout', 'gh did not answer in time and was ended');
  if (answer.how === 'flooded') return trouble('shape', 'gh printed too much and was ended');
  if (answer.how === 'aborted') return trouble('failed', 'the look was called off');
  if (answer.how === 'failed') return trouble('failed', `gh could not be started (${answer.reason})`);
  const said = wordsOf(answer);
  if (answer.code === 126 || answer.code === 127) return fault('tool_missing', `gh cannot be executed: ${said}`);
  // Without a login it may say little.
  if (answer.code === 4) return fault('auth', `gh is not logged in: ${said}`);
  for (const [pattern, kind, says] of words) {
    if (!pattern.test(said)) continue;
    const message = `${says}: ${said}`;
    if (faults.includes(kind)) return fault(kind as Fault['cause'], message);
    return trouble(kind as Trouble['cause'], message, kind === 'rate_limit' ? waitOf(said, tools.nowMs()) : null);
  }
  return trouble('failed', `gh failed with exit code ${answer.code}: ${said}`);
}

/** What it said, on one line; GraphQL errors of `gh api` stand on stdout. */
function wordsOf({ stdout, stderr }: ToolAnswer): string {
  const text = stderr.length > 0 ? stderr : stdout.subarray(0, 2000);
  return excerpt(plainText(text.toString()).replace(/\s+/g, ' ').trim(), 400) || 'it said nothing';
}

function trouble(cause: Trouble['cause'], message: string, retryAfterMs: number | null = null): Trouble {
  return { kind: 'trouble', cause, message, retryAfterMs };
}

function fault(cause: Fault['cause'], message: string): Fault {
  return { kind: 'fault', cause, message };
}

/** So long until a limit ends, from what somebody said; null: no instant to come was said. A primary limit resets within an hour. */
export function untilReset(waitMs: number): number | null {
  return waitMs > 0 ? Math.min(waitMs, ghResetMs) : null;
}

/** How long to wait, where the words tell it. */
function waitOf(said: string, nowMs: number): number | null {
  const seconds = /retry[- ]after\W{0,3}(\d{1,6})(?![\d-])/i.exec(said)?.[1];
  if (seconds !== undefined) return untilReset(Number(seconds) * 1000);
  const epoch = /resets?(?: at)?\W{0,3}(\d{10})\b/i.exec(said)?.[1];
  if (epoch !== undefined) return untilReset(Number(epoch) * 1000 - nowMs);
  // A stamp alone is that of the request: GitHub names it for its support.
  const [, date, time, zone] = stamp.exec(said) ?? [];
  if (date !== undefined) return untilReset(Date.parse(`${date}T${time}${zone === 'UTC' ? 'Z' : zone}`) - nowMs);
  const [, count, unit = ''] = /\bin (\d{1,5}) (second|minute|hour)/i.exec(said) ?? [];
  const sizes: Record<string, number> = { second: 1000, minute: 60_000, hour: 3_600_000 };
  return count === undefined ? null : untilReset(Number(count) * (sizes[unit.toLowerCase()] ?? 1000));
}

const stamp =
  /\b(?:resets?|until|retry[- ]after|try again)\b(?: (?:at|on|time|after))?\W{0,3}(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?) ?(Z|UTC|[+-]\d\d:\d\d)/i;
