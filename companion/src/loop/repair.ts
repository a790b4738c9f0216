// The gate may mend the loop's own files, when nothing else is wrong (S3.14). It never touches anything outside `.loop/`.
import type { GateReport, LoopState } from '../core/loop.ts';
import { isoNow } from '../platform/clock.ts';
import { writeFile } from '../platform/files.ts';
import { lockLoop, requireLoop } from './files.ts';
import { committed, openLoopGit } from './git.ts';
import { extraOf, makeHandoff } from './handoff.ts';
import { appendEntry, entryText, hasEntry, parseEntries, readJournal } from './journal.ts';
import type { LoopPlace } from './place.ts';
import { readHandoff } from './rewrite.ts';

/** Are the loop's files all that is wrong, and of a kind that can be mended from the state? */
export function isRepairable(report: GateReport): boolean {
  return (
    report.fixes.length > 0 &&
    report.fixes.every(({ owner, check }) => owner === 'loop' && (check === 'E5' || check === 'E6'))
  );
}

/** What was done, one sentence each. */
export function repairLoop(place: LoopPlace): Promise<string[]> {
  return lockLoop(place, () => {
    const state = requireLoop(place);
    const told = repairJournal(place, state);
    const text = readHandoff(place);
    const next = makeHandoff(state, extraOf(text));
    if (next !== text) {
      writeFile(place.handoff, next);
      told.push('handoff.md written anew from the state');
    }
    return told;
  });
}

function repairJournal(place: LoopPlace, state: LoopState): string[] {
  const told: string[] = [];
  const git = openLoopGit(place);
  const before = 'git' in git ? committed(git.git, '.loop/journal.md') : undefined;
  const text = readJournal(place.journal) ?? '';
  if (before && !Buffer.from(text).subarray(0, before.length).equals(before)) {
    // What was committed comes back; entries that only the other one has are kept after it.
    const old = before.toString('utf8');
    const known = new Set(parseEntries(old).map((entry) => entry.text));
    const added = parseEntries(text).filter((entry) => !known.has(entry.text));
    writeFile(
      place.journal,
      `${old}${old.endsWith('\n') ? '' : '\n'}${added.map((entry) => `\n${entry.text}\n`).join('')}`,
    );
    told.push(`journal.md put back as it was committed, with ${added.length} later entries after it`);
  }
  if (state.iteration > 0 && !hasEntry(readJournal(place.journal) ?? '', state.iteration)) {
    const did = [
      `the entry of iteration ${state.iteration} was missing; written by the gate from the state`,
      `last milestone: ${state.last ?? 'unknown'}`,
    ];
    appendEntry(
      place.journal,
      entryText(state.iteration, isoNow(), { did, verified: [], deficiencies: ['its own words are lost'], next: [] }),
    );
    told.push(`entry of iteration ${state.iteration} added to journal.md`);
  }
  return told;
}
