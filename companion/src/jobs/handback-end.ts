// The last look into a hand-back folder, before the end of its job is published: by the worker, or by a reader that settles it. Nobody of the
// tree writes any more, so what is there is whole, and what was not told yet is told now, once.
import type { Spec, Warning } from '../core/job.ts';
import { pathLookMs } from '../core/limits.ts';
import { inTime } from '../platform/folder-look.ts';
import { openJournal } from '../store/journal.ts';
import type { JobPaths } from '../store/layout.ts';
import { readState } from '../store/records.ts';
import type { JobEnding } from './end-state.ts';
import { HandbackLook, type HandbackNews, type HandbackSeen } from './handback-look.ts';
import { isEnded } from './view.ts';

export async function withHandback(job: { paths: JobPaths; spec: Spec }, ending: JobEnding): Promise<JobEnding> {
  const { paths, spec } = job;
  const read = readState(paths);
  const state = read.kind === 'ok' ? read.value : undefined;
  if (!spec.handback || (state && isEnded(state))) return ending;
  const look = new HandbackLook(spec.handback, paths);
  const late: HandbackSeen = { news: [], trouble: 'it gives no answer' };
  const { news, trouble } = await inTime(look.look(true), pathLookMs, late);
  if (news.length > 0) {
    const journal = openJournal(paths, spec);
    for (const one of news) journal.append('handback', handbackEvent(one));
  }
  const warnings = handbackWarnings(ending.warnings ?? state?.warnings ?? spec.warnings ?? [], look, trouble);
  return { ...ending, warnings, handback: look.standing };
}

export function handbackEvent(news: HandbackNews): Record<string, unknown> {
  return { ...news, wake: ['handback'] };
}

/** What is known already, and what this look adds to it: each thing once. */
export function handbackWarnings(known: readonly Warning[], look: HandbackLook, trouble: string | null): Warning[] {
  const { dir, newest } = look.standing;
  const lost = `the hand-back folder ${dir} cannot be looked into: ${trouble}; what is put there wakes nobody`;
  const many = `so many files were handed back that those after ${newest} are not told; they lie in ${dir}`;
  const warnings = [
    ...(trouble === null ? [] : [{ code: 'handback_unseen', message: lost }]),
    ...(look.isFull ? [{ code: 'handback_many', message: many }] : []),
  ];
  const isKnown = ({ code }: Warning): boolean => known.some((one) => one.code === code);
  return [...known, ...warnings.filter((one) => !isKnown(one))];
}
