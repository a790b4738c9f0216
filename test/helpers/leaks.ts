/**
 * Owns the rule that a test leaves no process behind: everything it started carries its marker variable, or stands in
 * its folder. Whoever is still there at the limit is killed, by identity, and named; the caller makes that a failure.
 * The runner asks the same once more after each test file, for tests that were cut off before they could clean up.
 */
import { describeProcess, type Identity, killByIdentity, listProcesses } from './process.ts';

export const MARKER = 'JOB_TEST_MARKER';
export const FOLDER_PREFIX = 'jct-';

export interface LeakSearch {
  /** The value of the marker variable, or its beginning. */
  marker: string;
  folder?: string;
}

/** Descriptions of the processes that had to be killed; empty when all went by themselves within the limit. */
export async function endLeaks({ marker, folder }: LeakSearch, limitMs = 5_000): Promise<string[]> {
  const find = () => listProcesses({ environment: `${MARKER}=${marker}`, folder });
  const left = await waitUntilNone(find, limitMs);
  const named = left.map(describeProcess);
  // One that is killed may have been about to start another, so look again until none is found.
  for (let round = 0, rest = left; rest.length > 0 && round < 20; round += 1) {
    for (const identity of rest) killByIdentity(identity);
    rest = await waitUntilNone(find, 250);
  }
  return named;
}

async function waitUntilNone(find: () => Identity[], limitMs: number): Promise<Identity[]> {
  const deadline = performance.now() + limitMs;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    const found = find();
    if (found.length === 0 || performance.now() >= deadline) return found;
    await new Promise((wake) => setTimeout(wake, pauseMs));
  }
}
