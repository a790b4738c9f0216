// What a gate's answer leaves in the state: the round, the fingerprint, the stop. Counted once for each gate, whoever asks how often.
import { loopLimits } from '../core/limits-loop.ts';
import type { GateReport, LoopState } from '../core/loop.ts';
import { isoNow } from '../platform/clock.ts';
import { changeLoop, readLoop } from './files.ts';
import { appendEntry, entryText, lastEntries, readJournal } from './journal.ts';
import type { LoopPlace } from './place.ts';
import { isEdited } from './stamp.ts';

/** `job` names the gate: the same one is never counted twice. A state that cannot be written (edited, damaged) counts nothing. */
export async function countGate(place: LoopPlace, report: GateReport, job: string | null): Promise<void> {
  const read = readLoop(place);
  if (read.kind !== 'ok' || isEdited(read.state)) return;
  await changeLoop(place, (old) => {
    if (job !== null && old.gate?.job === job) return old;
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
}

/** By a worker that was killed before the state was written. */
function isTold(place: LoopPlace, text: string): boolean {
  const [last] = lastEntries(readJournal(place.journal) ?? '', 1);
  return last?.note === 'stop' && last.text.includes(text);
}
