/**
 * Turns the arguments of `npm test` into a plan: which steps, which other Nodes, which files. Pure but for the look at
 * which Nodes are installed. Anything not understood is an error that says what is allowed.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export const stepNames = ['lint', 'types', 'unit', 'structure', 'identity', 'acceptance', 'agents'] as const;
export type StepName = (typeof stepNames)[number];

/** Set to 1 for the tests of a run with `--full`. */
export const FULL = 'JOB_TEST_FULL';

export interface OtherNode {
  major: string;
  program: string;
}

export interface Plan {
  steps: readonly StepName[];
  /** The Nodes that the acceptance step is repeated with. */
  nodes: OtherNode[];
  /** Parts of paths; a file is run when it holds one of them. For `agents`: names of CLIs. */
  filters: string[];
  /** Cases of `agents` that a CLI retries for minutes are run to their own end. */
  full: boolean;
}

export function parsePlan(argv: string[]): Plan {
  const options = { only: { type: 'string' }, nodes: { type: 'string' }, full: { type: 'boolean' } } as const;
  const { values, positionals: filters } = parseArgs({ args: argv, options, allowPositionals: true });
  const only = values.only?.split(',');
  // Looked for before anything is run, since half an hour later is late to hear of it.
  const nodes = (values.nodes?.split(',') ?? []).map((major) => ({ major, program: requireNode(major) }));
  for (const name of only ?? []) {
    if (!isStep(name)) throw new Error(`no step is called '${name}'; there are ${stepNames.join(', ')}`);
  }
  // Whoever names a file wants that file, not the linter, nor a real CLI for half of its name.
  const named = filters.some((part) => part.includes('agents/')) ? ['agents'] : ['unit', 'structure', 'acceptance'];
  const steps = only ?? (filters.length > 0 ? named : stepNames);
  if (nodes.length > 0 && !steps.includes('acceptance')) throw new Error('--nodes is for the acceptance step');
  const full = values.full ?? process.env[FULL] === '1';
  // In their own order, however they were named.
  return { steps: stepNames.filter((name) => steps.includes(name)), nodes, filters, full };
}

/** The program of another Node release, from test/lab/nodes. */
function requireNode(major: string): string {
  const path = join(import.meta.dirname, `../../lab/nodes/node_modules/node${major}/bin/node`);
  if (!existsSync(path)) throw new Error(`Node ${major} is not installed; run: npm ci --prefix test/lab/nodes`);
  return path;
}

function isStep(name: string): name is StepName {
  return (stepNames as readonly string[]).includes(name);
}
