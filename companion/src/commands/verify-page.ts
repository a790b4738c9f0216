// What `verify` shows: one line over all, then a row for each claim, what does not hold first; as JSON everything.
import { showName } from '../core/byte-names.ts';
import type { ClaimResult, ClaimVerdict } from '../core/claims.ts';
import { formatDuration } from '../core/duration.ts';
import { excerpt } from '../core/excerpt.ts';
import { ageOf } from '../core/recorded-time.ts';
import type { Rerun } from '../jobs/claims/rerun.ts';
import type { Verification } from '../jobs/claims/verify.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import type { View } from '../jobs/view.ts';
import { cutToWidth } from '../output/width.ts';
import { wrap } from '../output/wrap.ts';
import { isoNow, nowMs } from '../platform/clock.ts';

const order: readonly ClaimResult[] = ['contradicted', 'unverifiable', 'verified', 'recorded'];
/** A block may hold a thousand; what does not hold comes first. */
const rows = 60;

export function claimsPage(view: View, verification: Verification, width: number): string {
  const { verdicts } = verification;
  const lines = headline(view, verification).flatMap((line) => wrap(line, width));
  if (verdicts.length > 0) {
    const shown = order.flatMap((result) => verdicts.filter((one) => one.result === result)).slice(0, rows);
    lines.push(...shown.flatMap((one) => rowOf(one, width)));
    if (verdicts.length > rows) lines.push(`... and ${verdicts.length - rows} more (--json tells all)`);
  }
  return `${lines.join('\n')}\n`;
}

function headline({ id }: View, { verdict, claims, verdicts, reason, rerun }: Verification): string[] {
  if (claims === null) return [`${id}: ${verdict}: ${reason}`, ...(rerun ? [rerunLine(rerun)] : [])];
  const counts = order.map((result) => [countOf(verdicts, result), result]).filter(([count]) => count !== 0);
  return [`${id}: ${verdict}; it claims to be ${claims.status}`, counts.map((pair) => pair.join(' ')).join(', ')];
}

/** Where no claim stands for the tests. */
function rerunLine({ isPassed, reason }: Rerun): string {
  return `--rerun ${isPassed === true ? 'passed' : 'did not pass'}: ${reason}`;
}

/** On a terminal the reason goes on below itself: it is what counts. */
function rowOf({ result, kind, claim, detail }: ClaimVerdict, width: number): string[] {
  const indent = 14;
  const lines = wrap(`${kind} ${excerpt(claim, 120)}: ${detail}`, Math.max(20, width - indent));
  return lines.map((line, n) => cutToWidth(`${(n === 0 ? result : '').padEnd(indent)}${line}`, Math.max(20, width)));
}

/** Hints, and what nobody claims. A command, and what the tests printed, stay as they are. */
export function claimsNotes(view: View, { rerun, unclaimed, block_error }: Verification, width: number): string[] {
  const notes: string[] = [];
  const say = (text: string): void => void notes.push(...wrap(text, width));
  if (rerun) say(`${rerun.command}: ${rerun.reason}, ${formatDuration(rerun.duration_ms)}`);
  if (rerun && rerun.isPassed !== true)
    notes.push(...[rerun.stdout_tail, rerun.stderr_tail].map((text) => text.trimEnd()).filter(Boolean));
  if (unclaimed && unclaimed.file_count > 0)
    say(`changed, and not claimed: ${listed(unclaimed.files.map(showName), unclaimed.file_count)}`);
  if (unclaimed && unclaimed.commit_count > 0) {
    const commits = unclaimed.commits.map(({ sha, subject }) => `${sha.slice(0, 12)} ${subject}`);
    say(`commits that are not claimed: ${listed(commits, unclaimed.commit_count)}`);
  }
  if (block_error) {
    notes.push(`see its result: ${nextCommands.result(view.id, view.spec?.state_option ?? [])}`);
    say('to get one: let the next task ask for it (its form: verify --help, docs/claims.md); implement does by itself');
  }
  return notes;
}

function listed(names: readonly string[], total: number): string {
  const first = names.slice(0, 5);
  return [...first, ...(total > first.length ? [`and ${total - first.length} more`] : [])].join(', ');
}

export function claimsDocument(view: View, verification: Verification): object {
  const { verdict, claims, verdicts, reason, block_error, rerun, unclaimed } = verification;
  const { state } = view;
  const counts = Object.fromEntries(order.map((result) => [result, countOf(verdicts, result)]));
  return {
    id: view.id,
    state: state.state,
    verdict,
    status: claims?.status ?? null,
    summary: claims?.summary ?? null,
    blocked_reason: claims?.blockedReason ?? null,
    open_issues: claims?.openIssues ?? [],
    counts,
    claims: verdicts,
    unclaimed,
    rerun: rerun && rerunRecord(rerun),
    block_error,
    error: verdict === 'verified' ? null : { code: verdict, message: reason ?? messageOf(verdicts, verdict) },
    now: isoNow(),
    age_ms: ageOf(state.created_at, nowMs()),
  };
}

function rerunRecord({ isPassed, ...rest }: Rerun): object {
  return { passed: isPassed, ...rest };
}

function messageOf(verdicts: readonly ClaimVerdict[], verdict: ClaimResult): string {
  const [first, ...others] = verdicts.filter(({ result }) => result === verdict);
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return first ? `${first.kind} ${first.claim}: ${first.detail}${more}` : verdict;
}

function countOf(verdicts: readonly ClaimVerdict[], wanted: ClaimResult): number {
  return verdicts.filter(({ result }) => result === wanted).length;
}
