// The handoff as the state says it now; what only it tells (risks, key files) is kept.
import { readText, writeFile } from '../platform/files.ts';
import { lockLoop, requireLoop } from './files.ts';
import { extraOf, makeHandoff } from './handoff.ts';
import type { LoopPlace } from './place.ts';

const handoffBytes = 1024 * 1024;

export function rewriteHandoff(place: LoopPlace): Promise<void> {
  return lockLoop(place, () => writeFile(place.handoff, makeHandoff(requireLoop(place), extraOf(readHandoff(place)))));
}

export function readHandoff(place: LoopPlace): string | undefined {
  return readText(place.handoff, handoffBytes);
}
