// The verbs of `loop`, in help order. A new one is one file and one line here.
import type { Command } from '../command.ts';

const loaders = {
  init: async () => (await import('./loop-init.ts')).init,
  plan: async () => (await import('./loop-plan.ts')).plan,
  status: async () => (await import('./loop-status.ts')).status,
  next: async () => (await import('./loop-next.ts')).next,
  start: async () => (await import('./loop-start.ts')).start,
  checkpoint: async () => (await import('./loop-checkpoint.ts')).checkpoint,
  check: async () => (await import('./loop-check.ts')).check,
  gate: async () => (await import('./loop-gate.ts')).gate,
  resume: async () => (await import('./loop-resume.ts')).resume,
  pace: async () => (await import('./loop-pace.ts')).pace,
  stop: async () => (await import('./loop-stop.ts')).stop,
  trust: async () => (await import('./loop-trust.ts')).trust,
  run: async () => (await import('./loop-run.ts')).run,
} satisfies Record<string, () => Promise<Command>>;

export const loopVerbs = Object.keys(loaders);

export async function loadLoopVerb(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loaders, name) ? loaders[name as keyof typeof loaders]() : undefined;
}
