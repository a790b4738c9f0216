// The backends, in the order in which people are shown them. A new one is a file beside this and a line here.
import type { Backend } from './backend.ts';
import { codex } from './codex.ts';
import { custom } from './custom.ts';

export const backends = [codex, custom] as const satisfies readonly Backend[];

export type BackendId = (typeof backends)[number]['id'];

export const backendIds: readonly BackendId[] = backends.map((backend) => backend.id);

export function findBackend(id: string): Backend | undefined {
  return backends.find((backend) => backend.id === id);
}

/** The marks of every host: whichever agent runs us, none of ours must take itself for its part. */
export function hostMarkers(): string[] {
  return backends.flatMap((backend) => [...backend.hostMarkers]);
}
