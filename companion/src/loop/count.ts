// What a gate's answer leaves in the state: the round, the fingerprint, the stop. Counted once for each gate, whoever asks how often.
import { loopLimits } from '../core/limits-loop.ts';
import type { GateReport, LoopState } from '../core/loop.ts';
import { isoNow } from '../platform/clock.ts';
import { changeLoop } from './files.ts';
import { appendEntry, entryText, lastEntries, readJournal } from './journal.ts';
import type { LoopPlace } from './place.ts';

/**
 * `job` names the gate: the same one is never counted twice. `judged`: hash of the state that was judged (null: it cannot be written, edited or damaged, and
 * nothing is counted). False when another one stands there meanwhile: the answer is about something that is no more.
 */
export async function countGate(
  place: LoopPlace,
  report: GateReport,
  job: string,
  judged: string | null,
): Promise<boolean> {
  if (judged === null) return true;
  let isOfNow = true;
  await changeLoop(place, (old) => {
    if (old.gate?.job === job) return old;
    isOfNow = old.hash === judged;
    if (!isOfNow) return old;
    const at = isoNow();
    const gate = { verdict: report.verdict, iteration: old.iteration, at, job };
    const next: LoopState = { ...old, gate };
    // Of a loop that stands still nothing is counted.
    if (report.fingerprint !== null && (old.stopped === null || old.stopped.reason === 'finished')) {
      next.remediation_rounds = old.remediation_rounds + 1;
      const mark = `${old.iteration}:${report.fingerprint}`;
      next.failure_fingerprints = [...old.failure_fingerprints.filter((one) => one !== mark), mark].slice(-20);
    }
    if (report.verdict !== 'STOP' || report.reason === null || old.stopped?.reason === report.reason) return next;
    const told = [`STOP: ${report.reason} (${report.detail})`];
    const deficiencies = report.fixes.slice(0, 10).map(({ check, what }) => `${check}: ${what}`);
    if (!isTold(place, told[0] ?? ''))
      appendEntry(
        place.journal,
        entryText(
          old.iteration,
          at,
          { did: told, verified: report.checks.map(({ id, result }) => `${id} ${result}`), deficiencies, next: [] },
          'stop',
        ),
      );
    return { ...next, stopped: { reason: report.reason, detail: report.detail.slice(0, loopLimits.textChars), at } };
  });
  return isOfNow;
}

/** By a worker that was killed before the state was written. */
function isTold(place: LoopPlace, text: string): boolean {
  const [last] = lastEntries(readJournal(place.journal) ?? '', 1);
  return last?.note === 'stop' && last.text.includes(text);
}
