// The last look into a hand-back folder, before the end of its job is published: by the worker, or by a reader that settles it. Nobody of the
// tree writes any more, so what is there is whole, and what was not told yet is told now, once.
import type { Spec, Warning } from '../core/job.ts';
import { handbackFiles, pathLookMs } from '../core/limits.ts';
import { handbackTellings } from '../core/limits-handback.ts';
import { inTime } from '../platform/folder-look.ts';
import { openJournal } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';
import { readState } from '../store/records.ts';
import type { JobEnding } from './end-state.ts';
import { type HandbackBound, HandbackLook, type HandbackNews, type HandbackSeen } from './handback-look.ts';
import { isEnded } from './view.ts';

export async function withHandback(job: { paths: JobPaths; spec: Spec }, ending: JobEnding): Promise<JobEnding> {
  const { paths, spec } = job;
  const read = readState(paths);
  const state = read.kind === 'ok' ? read.value : undefined;
  if (!spec.handback || (state && isEnded(state))) return ending;
  const look = new HandbackLook(spec.handback, paths);
  const late: HandbackSeen = { news: [], trouble: 'it gives no answer' };
  const { news, trouble } = await inTime(look.look(true), pathLookMs, late);
  const bounds = newBounds(look);
  if (news.length + bounds.length > 0) {
    const journal = openJournal(paths, spec);
    for (const one of news) journal.append('handback', handbackEvent(one));
    for (const one of bounds) journal.append('handback_many', one);
  }
  const warnings = handbackWarnings(ending.warnings ?? state?.warnings ?? spec.warnings ?? [], look, trouble);
  return { ...ending, warnings, handback: look.standing };
}

export function handbackEvent(news: HandbackNews): Record<string, unknown> {
  return { ...news, wake: ['handback'] };
}

/** The events of bounds that were reached and not told yet: also for whoever waits for hand-backs alone, for the next one is not told. */
export function newBounds(look: HandbackLook): Record<string, unknown>[] {
  const fresh = [...look.bounds].filter((bound) => !look.saidBounds.has(bound));
  for (const bound of fresh) look.saidBounds.add(bound);
  return fresh.map((bound) => ({ bound, reason: boundWords(bound, look), wake: ['attention', 'handback'] }));
}

function boundWords(bound: HandbackBound, look: HandbackLook): string {
  const { dir } = look.standing;
  return bound === 'names'
    ? `more than ${handbackFiles} files were handed back: further names are not told; they lie in ${dir}`
    : `files were handed back ${handbackTellings} times: nothing more is told; what comes lies in ${dir}`;
}

/** What is known already, and what this look adds to it, each thing once; a folder that can be looked into again is no trouble any more. */
export function handbackWarnings(known: readonly Warning[], look: HandbackLook, trouble: string | null): Warning[] {
  const { dir } = look.standing;
  const lost = `the hand-back folder ${dir} cannot be looked into: ${trouble}; what is put there wakes nobody`;
  const kept = known.filter(({ code }) => trouble !== null || code !== unseen);
  const warnings = [
    ...(trouble === null || known.some(({ code }) => code === unseen) ? [] : [{ code: unseen, message: lost }]),
    ...[...look.bounds].map((bound) => ({ code: 'handback_many', message: boundWords(bound, look) })),
  ];
  return [...kept, ...warnings.filter((one) => !kept.some(({ message }) => message === one.message))];
}

const unseen = 'handback_unseen';
