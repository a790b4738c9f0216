// The verbs of `loop`, in help order. A new one is one file and one line here.
import type { Command } from '../command.ts';

const loaders = {
  status: async () => (await import('./loop-status.ts')).status,
} satisfies Record<string, () => Promise<Command>>;

export const loopVerbs = Object.keys(loaders);

export async function loadLoopVerb(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loaders, name) ? loaders[name as keyof typeof loaders]() : undefined;
}
