// The list of engines; a job's spec names one.
import type { Engine } from './engine.ts';
import { local } from './local.ts';

const engines = [local] as const satisfies readonly Engine[];

/** The engine of a job; undefined for a record of a release that knew another one. */
export function findEngine(id: string): Engine | undefined {
  return engines.find((engine) => engine.id === id);
}

export const defaultEngine: Engine = local;
