// A gate's answer for people: the verdict first, then what to do, then the evidence.

import { plainText } from '../core/excerpt.ts';
import { type ExitCode, exitCodes } from '../core/exit-codes.ts';
import type { JobError, JobErrorCode } from '../core/job.ts';
import type { GateReport } from '../core/loop.ts';

/** Contract 2: 2 GO, 0 everything finished, 3 NO-GO or a limit reached, 4 declared stop. */
export function gateCode({ verdict, reason }: GateReport): ExitCode {
  if (verdict === 'GO') return exitCodes.pending;
  if (verdict === 'NO-GO') return exitCodes.unsuccessful;
  if (reason === 'finished') return exitCodes.done;
  return reason === 'declared' || reason === 'stopped' ? exitCodes.canceled : exitCodes.unsuccessful;
}

/** Null: the gate as a job is done. A stop that the user asked for is no failure of the gate. */
export function gateError(report: GateReport): JobError | null {
  if (gateCode(report) !== exitCodes.unsuccessful) return null;
  const code: JobErrorCode = report.verdict === 'NO-GO' ? 'nogo' : (report.reason as JobErrorCode);
  return { code, message: report.detail.slice(0, 500) };
}

export function gateText(report: GateReport, digest: string): string {
  const { verdict, reason, detail, checks, fixes, questions, unanswered } = report;
  const lines = [`${verdict}${reason === null ? '' : ` ${reason}`}${detail === '' ? '' : `: ${plainText(detail)}`}`];
  if (fixes.length > 0) lines.push('', 'To be mended:');
  for (const { check, owner, what, command } of fixes.slice(0, 20)) {
    lines.push(`  ${check} (${owner}): ${plainText(what)}`);
    if (command !== undefined && command !== '') lines.push(`      ${plainText(command)}`);
  }
  if (fixes.length > 20) lines.push(`  and ${fixes.length - 20} more`);
  lines.push('', 'Checks:');
  for (const { id, title, result, evidence } of checks) {
    const [first = ''] = evidence;
    lines.push(
      `  ${id.padEnd(3)} ${result.padEnd(7)} ${title}${result === 'fail' || first === '' ? '' : `: ${plainText(first)}`}`,
    );
  }
  const open = questions.filter(({ id }) => unanswered.includes(id));
  if (open.length > 0) lines.push('', `Not answered by a judge (--judge FILE, "for": "${digest}"):`);
  for (const { id, question } of open) lines.push(`  ${id}: ${plainText(question)}`);
  return `${lines.join('\n')}\n`;
}
