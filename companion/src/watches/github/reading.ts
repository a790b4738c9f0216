// What a watch of checks says of one commit: its word, for how long nothing was reported, one line for people, and facts for programs.
import { formatAge } from '../../core/duration.ts';
import { excerpt } from '../../core/excerpt.ts';
import { evidenceChars, ghNamedChecks, ghSettleMs } from '../../core/limits.ts';
import type { Cursor, Tools } from '../watch.ts';
import type { Item, Rollup } from './rollup.ts';

/**
 * `not_yet`: nothing was reported, and the grace is not over. `none`: nothing ran, so nothing is green. `settling`: green, but only just
 * begun; after a push the first app is done before the others begin.
 */
export type ChecksWord = 'not_yet' | 'none' | 'running' | 'gated' | 'settling' | 'passed' | 'failed';

export interface Grace {
  graceMs: number;
  /** When this watch first saw this head. */
  since: number;
  nowMs: number;
  /** What was green at the look before; null where there is no next look to wait for. */
  greenBefore: string | null;
  head: string;
}

export function graceOf(graceMs: number, head: string, tools: Tools, cursor: Cursor | null): Grace {
  const nowMs = tools.nowMs();
  const before = typeof cursor?.green === 'string' ? cursor.green : '';
  return {
    graceMs,
    head,
    nowMs,
    since: sinceOf(cursor, head, nowMs),
    greenBefore: tools.everyMs === undefined ? null : before,
  };
}

export function checksWord(rollup: Rollup, grace: Grace): ChecksWord {
  if (rollup.word === 'failing') return 'failed';
  if (rollup.word === 'passing') return isSettling(rollup, grace) ? 'settling' : 'passed';
  if (rollup.word === 'running') return rollup.counts.gated > 0 ? 'gated' : 'running';
  return rollup.counts.skipped === 0 && !isOver(grace) ? 'not_yet' : 'none';
}

function isSettling(rollup: Rollup, { nowMs, greenBefore, head }: Grace): boolean {
  if (greenBefore === null || greenBefore === greenMark(rollup, head)) return false;
  return rollup.newestAt !== null && nowMs - rollup.newestAt < ghSettleMs;
}

function greenMark({ counts }: Rollup, head: string): string {
  return `${head} ${counts.passed} ${counts.skipped}`;
}

/** What the next look needs to know. */
export function graceCursor(rollup: Rollup, grace: Grace, word: ChecksWord): Cursor {
  const { head, since } = grace;
  return word === 'settling' ? { head, since, green: greenMark(rollup, head) } : { head, since };
}

/** What another watch fetched will not do for a first look, nor to see whether it stays green. */
export function wantsFresh(cursor: Cursor | null): boolean {
  return cursor === null || cursor.green !== undefined;
}

/** Nothing ran, and it has been waited for: only now may that be what the caller allows. */
export function isNoneForGood(word: ChecksWord, grace: Grace): boolean {
  return word === 'none' && isOver(grace);
}

function isOver({ nowMs, since, graceMs }: Grace): boolean {
  return nowMs - since >= graceMs;
}

/** Since when the watch knows this head; from its cursor. */
export function sinceOf(cursor: Cursor | null, head: string, nowMs: number): number {
  const { head: known, since } = cursor ?? {};
  return known === head && typeof since === 'number' && since <= nowMs ? since : nowMs;
}

/** The head that this watch saw before, when it was another one. */
export function movedFrom(cursor: Cursor | null, head: string): string | null {
  const before = cursor?.head;
  return typeof before === 'string' && before !== '' && before !== head ? before : null;
}

/** `2 failing: unit, lint; 3 running, 10 passed, 1 skipped`. */
export function checksWords(rollup: Rollup, grace: Grace): string {
  const { nowMs, since } = grace;
  const { passed, skipped, failed, gated, running } = rollup.counts;
  const counts = (parts: [number, string][]): string =>
    parts.flatMap(([count, word]) => (count > 0 ? `${count} ${word}` : [])).join(', ');
  const rest = counts([
    [running, 'running'],
    [passed, 'passed'],
    [skipped, 'skipped'],
  ]);
  const after = rest === '' ? '' : `; ${rest}`;
  if (failed > 0) return `${failed} failing: ${namesOf(rollup.failing.map((item) => item.name))}${after}`;
  if (gated > 0) return `waiting for approval: ${namesOf(rollup.gating)}${after}`;
  if (rollup.word === 'passing' && isSettling(rollup, grace)) return `${rest}; just begun, to be looked at once more`;
  if (rollup.word !== 'none') return rest;
  if (skipped > 0) return `nothing ran, ${skipped} skipped`;
  return `no checks reported in ${formatAge(nowMs - since)}`;
}

function namesOf(names: readonly string[]): string {
  const more = names.length - ghNamedChecks;
  return `${names.slice(0, ghNamedChecks).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function checksFacts(rollup: Rollup): Record<string, unknown> {
  const { passed, skipped, failed, gated, running } = rollup.counts;
  const named = ({ name, link }: Item): Record<string, string> => ({ name, link });
  return {
    checks: rollup.word,
    passed,
    failed,
    running,
    skipped,
    gated,
    failing: rollup.failing.slice(0, ghNamedChecks).map(named),
    gating: rollup.gating.slice(0, ghNamedChecks),
  };
}

/** At most what evidence may have. */
export function line(text: string): string {
  return excerpt(text, evidenceChars);
}

export function shortSha(head: string): string {
  return head.slice(0, 10);
}
