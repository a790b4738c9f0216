// The list of watch kinds, in help order. A new kind is one file and one line here.
import type { Watch } from './watch.ts';

const loaders = {
  file: async () => (await import('./file.ts')).file,
  dir: async () => (await import('./dir.ts')).dir,
  pid: async () => (await import('./pid.ts')).pid,
  job: async () => (await import('./job.ts')).job,
  git: async () => (await import('./git.ts')).git,
  cmd: async () => (await import('./cmd.ts')).cmd,
  http: async () => (await import('./http.ts')).http,
  npm: async () => (await import('./npm.ts')).npm,
  ci: async () => (await import('./ci.ts')).ci,
  pr: async () => (await import('./pr.ts')).pr,
  review: async () => (await import('./review.ts')).review,
} satisfies Record<string, () => Promise<Watch>>;

export const watchIds = Object.keys(loaders);

export async function loadWatch(id: string): Promise<Watch | undefined> {
  return Object.hasOwn(loaders, id) ? loaders[id as keyof typeof loaders]() : undefined;
}
