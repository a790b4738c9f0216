// Before a checkpoint: are the verify commands green (E2), and has what was added since the milestone was begun no marker and no debug code (the
// half of E4 that does not need a commit)? What is found goes back to the one who wrote it, and nothing of it is committed.
import { excerpt } from '../core/excerpt.ts';
import type { Fix } from '../core/loop.ts';
import type { Environment } from '../platform/env.ts';
import { green } from './checks/e2-green.ts';
import { markedLines } from './checks/e4-clean.ts';
import { editedFault, readLoop, requireLoop } from './files.ts';
import { addedLines, openLoopGit } from './git.ts';
import type { LoopPlace } from './place.ts';
import { isEdited } from './stamp.ts';
import { requireTrust } from './trust.ts';

export async function verifyWork(
  place: LoopPlace,
  environment: Environment,
  signal: AbortSignal,
): Promise<{ fixes: Fix[]; verified: string[] }> {
  const state = requireLoop(place);
  if (isEdited(state)) throw editedFault(place);
  requireTrust(place, state);
  const git = openLoopGit(place);
  const marked = 'git' in git ? addedLines(place, git.git, state.current?.base ?? state.boundary) : { lines: [] };
  const markers = 'lines' in marked ? markedLines(marked.lines) : [];
  const fixes: Fix[] = markers
    .slice(0, 20)
    .map((what) => ({ check: 'E4', owner: 'developer', what: excerpt(what, 240) }));
  const answer = await green.run({
    ...{ place, read: readLoop(place), state, git, runCommands: true, isRefused: false, environment, signal },
    ...{ exclude: [], passed: new Set<string>(), onPassed: () => undefined, met: [] },
  });
  signal.throwIfAborted();
  return {
    fixes: [...(answer.fixes ?? []), ...fixes],
    verified: answer.result === 'pass' ? answer.evidence : [],
  };
}
