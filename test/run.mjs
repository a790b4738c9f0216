/**
 * `npm test`: lint, types, unit, structure, identity, acceptance, agents, in this order; the last line is `N passed, N failed`.
 * Owns nothing but the start: it makes TypeScript loadable and hands over to helpers/runner/main.ts.
 * Usage: node test/run.mjs [--only STEP[,STEP]] [--nodes 22,26] [--full] [FILE-FILTER...]
 * `npm run agents -- claude [--full]` runs the tests of one agent CLI.
 */
import { existsSync } from 'node:fs';

if (existsSync(new URL('../node_modules/tsx', import.meta.url))) {
  await import('./helpers/register.mjs');
  const { main } = await import('./helpers/runner/main.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.log('the tools are not installed; run: npm ci\n0 passed, 1 failed');
  process.exitCode = 1;
}
