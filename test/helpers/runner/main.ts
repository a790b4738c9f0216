/**
 * The story of a test run: plan, then step after step, then the closing words. Returns the exit code and leaves exiting to
 * test/run.mjs. Every step runs, also after a failed one, because one run in CI should tell everything.
 */
import { sections } from '../../acceptance/rows/sections.ts';
import { type FileStep, fileSteps, listTestFiles, lostStep, runFiles, say } from './files.ts';
import { type Plan, parsePlan, type StepName } from './options.ts';
import { ROWS_FOLDER, renderRows } from './rows.ts';
import { addTallies, judgeRun, makeTally, type Tally } from './tally.ts';
import { endRunningFiles } from './test-file.ts';
import { runIdentity, runLint, runTypes } from './tools.ts';

const tools = { lint: runLint, types: runTypes, identity: runIdentity };

export async function main(argv: string[]): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stopAtOnce);
  const tallies: Tally[] = [];
  let plan: Plan | undefined;
  try {
    plan = parsePlan(argv);
    for (const step of plan.steps) tallies.push(...(await runStep(step, plan)));
    if (plan.filters.length > 0 && tallies.length === 0)
      throw new Error(`no test file matches ${plan.filters.join(' ')}`);
  } catch (error) {
    tallies.push(makeTally({ failures: [{ name: 'test run', detail: (error as Error).message }] }));
  }
  const tally = addTallies(tallies);
  const { text, code } = judgeRun(tally, plan ? closingLines(plan, tally) : []);
  console.log(text);
  return code;
}

async function runStep(step: StepName, plan: Plan): Promise<Tally[]> {
  if (!isFileStep(step)) {
    const started = performance.now();
    const tally = await tools[step]();
    say(step, tally, started);
    return [tally];
  }
  const files = listTestFiles(step, plan.filters);
  if (files.length === 0) return plan.filters.length > 0 ? [] : [lostStep(step)];
  console.log(`${step}:`);
  const { full } = plan;
  const tallies = await runFiles(files, step, { full });
  if (step !== 'acceptance') return tallies;
  for (const node of plan.nodes) tallies.push(...(await runFiles(files, step, { node, full })));
  return tallies;
}

/** The count of feature rows, when their tests were among those that were to be run. */
function closingLines({ steps, filters }: Plan, { rows }: Tally): string[] {
  if (!steps.includes('acceptance')) return [];
  const count = (parts: string[]) =>
    listTestFiles('acceptance', parts).filter((file) => file.startsWith(ROWS_FOLDER)).length;
  return renderRows(sections, rows, { all: count([]), chosen: count(filters) });
}

function isFileStep(step: StepName): step is FileStep {
  return step in fileSteps;
}

async function stopAtOnce(): Promise<void> {
  await endRunningFiles();
  console.log('interrupted');
  process.exit(1);
}
