// The backends, in the order in which people are shown them. A new one is a file beside this and a line here.
import { agy } from './agy.ts';
import type { Backend } from './backend.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { custom } from './custom.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

export const backends = [
  agy,
  claude,
  codex,
  gemini,
  opencode,
  pi,
  qwen,
  copilot,
  cursor,
  custom,
] as const satisfies readonly Backend[];

export type BackendId = (typeof backends)[number]['id'];

export const backendIds: readonly BackendId[] = backends.map((backend) => backend.id);

export function findBackend(id: string): Backend | undefined {
  return backends.find((backend) => backend.id === id);
}

/** The marks of every host: whichever agent runs us, none of ours must take itself for its part. */
export function hostMarkers(): string[] {
  return backends.flatMap((backend) => [...backend.hostMarkers]);
}
