#!/usr/bin/env node
/**
 * `npm run bench`: every row of contract 13, as ratios in one run. Prints a table; a whole run also writes docs/BENCHMARKS.md (part
 * of the rows, or fewer runs, would replace better figures by worse ones, so they are only printed).
 *
 *   node test/bench/run.mjs [--quick] [--only ROW[,ROW]] [--strict]
 *
 * A missed bar fails nothing but `--strict`. Works on Linux; elsewhere it skips what needs /proc and says so.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeLab } from './lab.mjs';
import { factsOf, renderMarkdown, renderText } from './report.mjs';
import { idleWaitRow, idleWorkerRow } from './rows/idle.mjs';
import { manyRow } from './rows/many.mjs';
import { outputRow } from './rows/output.mjs';
import { peersRow } from './rows/peers.mjs';
import { hookRow, launchRow, observeRow, statusRow } from './rows/starts.mjs';
import { waitExitRow, workerLossRow } from './rows/wait.mjs';

const rows = [
  launchRow,
  statusRow,
  observeRow,
  hookRow,
  waitExitRow,
  workerLossRow,
  idleWaitRow,
  manyRow,
  outputRow,
  idleWorkerRow,
  peersRow,
];
const document = fileURLToPath(new URL('../../docs/BENCHMARKS.md', import.meta.url));

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string', multiple: true }, strict: { type: 'boolean' } },
});
const wanted = values.only?.flatMap((names) => names.split(','));
const unknown = wanted?.find((name) => !rows.some((row) => row.name === name));
if (unknown !== undefined) {
  console.error(`there is no row ${unknown}; there are ${rows.map((row) => row.name).join(', ')}`);
  process.exit(1);
}

const lab = makeLab();
for (const [name, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
]) {
  process.once(name, () => void lab.end().finally(() => process.exit(128 + number)));
}
const loadBefore = loadavg()[0];
const lines = [];
try {
  for (const row of rows) {
    if (wanted && !wanted.includes(row.name)) continue;
    process.stderr.write(`${row.name} ...\n`);
    for (const line of await measure(row)) lines.push({ name: row.name, line });
  }
  console.log(renderText(lines));
  const facts = factsOf(lab, loadBefore);
  console.log(`\n${facts.join('\n')}`);
  if (!wanted && !values.quick) {
    mkdirSync(new URL('.', `file://${document}`), { recursive: true });
    writeFileSync(document, renderMarkdown(lines, facts));
    console.log(`written to ${document}`);
  }
} finally {
  await lab.end();
}
const isMissed = lines.some(({ line }) => line.isOk === false || line.isBroken);
process.exitCode = isMissed && values.strict ? 1 : 0;

/** A row that breaks is told as not measured, with the reason; the others go on. */
async function measure(row) {
  try {
    const result = await row.measure(lab, { isQuick: values.quick === true });
    return Array.isArray(result) ? result : [{ what: row.title, ...result }];
  } catch (error) {
    return [{ what: row.title, skipped: `it broke: ${error.message.split('\n')[0]}`, isBroken: true }];
  }
}
