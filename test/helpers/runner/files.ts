/**
 * Owns which test files belong to which step, and runs those of a step, a few at a time. A step that has no file at all
 * has failed: a suite that was lost must not look like one that passed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FULL, type OtherNode } from './options.ts';
import { makeTally, renderCounts, type Tally } from './tally.ts';
import { runTestFile } from './test-file.ts';

const root = join(import.meta.dirname, '../../..');
const MINUTE = 60_000;

export const fileSteps = {
  unit: {
    folders: [
      'core',
      'platform',
      'store',
      'backends',
      'watches',
      'engines',
      'jobs',
      'loop',
      'output',
      'worker',
      'commands',
    ],
    limitMs: 2 * MINUTE,
  },
  structure: { folders: ['structure'], limitMs: 2 * MINUTE },
  acceptance: { folders: ['acceptance'], limitMs: 10 * MINUTE },
  agents: { folders: ['agents'], limitMs: 30 * MINUTE },
};
export type FileStep = keyof typeof fileSteps;

const AT_A_TIME = 2;

export function listTestFiles(step: FileStep, filters: string[]): string[] {
  return fileSteps[step].folders
    .map((folder) => join('test', folder))
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => filters.length === 0 || filters.some((part) => isMeant(file, part, step)))
    .sort();
}

/** The name of a CLI means that one alone: `pi` is not copilot. */
function isMeant(file: string, part: string, step: FileStep): boolean {
  return step === 'agents' && !/[./]/.test(part) ? file.endsWith(`/${part}.test.ts`) : file.includes(part);
}

/** `node`: another Node for the built file; its name stands behind each file's. */
export async function runFiles(
  files: string[],
  step: FileStep,
  { node, full }: { node?: OtherNode; full: boolean },
): Promise<Tally[]> {
  // Whole retries of a real CLI take many minutes.
  const limitMs = fileSteps[step].limitMs * (full ? 4 : 1);
  const env: Record<string, string> = { ...(node && { JOB_TEST_NODE: node.program }), ...(full && { [FULL]: '1' }) };
  const queue = [...files];
  const tallies: Tally[] = [];
  const runQueue = async () => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      const started = performance.now();
      const label = node ? `${file} (Node ${node.major})` : file;
      const tally = await runTestFile(join(root, file), label, { limitMs, env });
      say(`  ${label}`, tally, started);
      tallies.push(tally);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, runQueue));
  return tallies;
}

export function lostStep(step: FileStep): Tally {
  const where = fileSteps[step].folders.map((folder) => `test/${folder}`).join(', ');
  return makeTally({ failures: [{ name: step, detail: `there is no *.test.ts below ${where}` }] });
}

export function say(what: string, tally: Tally, started: number): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${what}: ${renderCounts(tally)} (${seconds} s)`);
  for (const { name } of tally.failures) console.log(`    FAILED ${name}`);
}
