/**
 * Owns the question whether the committed built file is the one that the sources make: builds into a temporary folder and
 * compares the bytes of both generated files. Used by the runner's `identity` step and by structure/built-file.test.ts.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const builtFiles = ['job-companion.cjs', 'THIRD-PARTY.txt'] as const;

/** One sentence for each difference; empty when the committed files are fresh. */
export async function compareWithBuild(root: string): Promise<string[]> {
  const out = mkdtempSync(join(tmpdir(), 'jct-build-'));
  try {
    const build = spawnSync(process.execPath, [join(root, 'companion/build.mjs'), '--out', out], { encoding: 'utf8' });
    if (build.status !== 0) return [`the build fails: ${build.stderr || build.stdout || build.error}`];
    return builtFiles.flatMap((name) => {
      const committed = join(root, 'companion', name);
      if (!existsSync(committed)) return [`companion/${name} is missing; run: npm run build`];
      const same = readFileSync(committed).equals(readFileSync(join(out, name)));
      return same ? [] : [`companion/${name} is not what the sources make; run: npm run build`];
    });
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
