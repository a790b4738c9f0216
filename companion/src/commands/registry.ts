// The list of commands, in help order. A new command is one file and one line here.
import type { Command } from './command.ts';

const loaders = {
  run: async () => (await import('./run.ts')).run,
  watch: async () => (await import('./watch.ts')).watch,
  staffer: async () => (await import('./staffer.ts')).staffer,
  research: async () => (await import('./research.ts')).research,
  review: async () => (await import('./review.ts')).review,
  implement: async () => (await import('./implement.ts')).implement,
  ask: async () => (await import('./ask.ts')).ask,
  timer: async () => (await import('./timer.ts')).timer,
  wait: async () => (await import('./wait.ts')).wait,
  observe: async () => (await import('./observe.ts')).observe,
  status: async () => (await import('./status.ts')).status,
  result: async () => (await import('./result.ts')).result,
  cancel: async () => (await import('./cancel.ts')).cancel,
  continue: async () => (await import('./continue.ts')).continueCommand,
  restart: async () => (await import('./restart.ts')).restart,
  'idle-check': async () => (await import('./idle-check.ts')).idleCheck,
  reconcile: async () => (await import('./reconcile.ts')).reconcile,
  verify: async () => (await import('./verify.ts')).verify,
  loop: async () => (await import('./loop.ts')).loop,
  clean: async () => (await import('./clean.ts')).clean,
  setup: async () => (await import('./setup.ts')).setup,
  hook: async () => (await import('./hook.ts')).hook,
  doctor: async () => (await import('./doctor.ts')).doctor,
  help: async () => (await import('./help.ts')).help,
} satisfies Record<string, () => Promise<Command>>;

export const commandNames = Object.keys(loaders);

export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loaders, name) ? loaders[name as keyof typeof loaders]() : undefined;
}
