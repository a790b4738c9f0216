/** The user's key for tests that run sources in their own process: it lies in the workspace, for the time of the test. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Workspace } from './workspace.ts';

export const testKey = 'a'.repeat(64);

/** Returns the key's file. */
export function useKey(t: TestContext, { env }: Workspace): string {
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = env.XDG_CONFIG_HOME;
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  });
  const file = join(env.XDG_CONFIG_HOME ?? '', 'job-companion', 'key');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${testKey}\n`, { mode: 0o600 });
  return file;
}
