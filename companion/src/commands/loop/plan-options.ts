// What `loop init` and `loop plan` share: the options of a plan, and reading them.
import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { plainText } from '../../core/excerpt.ts';
import { loopLimits } from '../../core/limits-loop.ts';
import type { Milestone } from '../../core/loop.ts';
import type { OptionTable } from '../../core/option-table.ts';
import { acceptanceFrom, milestoneOf, type Plan, planFrom, riskyFrom, verifyOf } from '../../loop/plan.ts';
import { commandsOf } from '../../loop/trust.ts';
import { readText } from '../../platform/files.ts';
import type { Context } from '../command.ts';
import { common } from '../options.ts';
import type { Parsed } from '../parse.ts';

const second = 1000;
const { verifySeconds } = loopLimits;

export const planOptions = {
  plan: { kind: 'text', value: 'FILE', help: 'JSON with milestones, verify, stop_conditions, budget (- for stdin)' },
  milestone: { kind: 'list', value: '"ID: TITLE"', help: 'a milestone; several times, in the order of work' },
  acceptance: { kind: 'list', value: '"ID: TEXT"', help: 'what must be true for it, so that a test can prove it' },
  risky: { kind: 'list', value: 'ID', help: 'it needs the verdict of a review job before GO' },
  verify: {
    kind: 'list',
    value: '"NAME: CMD"',
    help: 'command that must succeed at each gate (sh -c); replaces those that are there',
  },
  'verify-timeout': {
    kind: 'duration',
    value: 'D',
    range: { default: verifySeconds.default * second, min: second, max: verifySeconds.max * second },
    help: 'limit of each of these commands (default 30m, at most 2h)',
  },
  'stop-when': {
    kind: 'list',
    value: 'COND',
    help: 'file:PATH, date:ISO, cmd:COMMAND, or words that a judge decides; replaces those that are there',
  },
  'max-iterations': {
    kind: 'count',
    value: 'N',
    range: loopLimits.iterationsMax,
    help: 'stop after so many checkpoints (default 100)',
  },
  'budget-notes': { kind: 'text', value: 'TEXT', help: 'what else the budget says' },
  ...common,
} as const satisfies OptionTable;

const planBytes = 1024 * 1024;

export async function planOf(context: Context, input: Parsed, known: readonly Milestone[]): Promise<Plan> {
  const file = input.text('plan');
  const written = file === undefined ? undefined : planFrom(await textOf(context, file));
  const seconds = Math.ceil(input.durationOrDefault('verify-timeout') / second);
  const named = input.texts('milestone').map(milestoneOf);
  const twice = named.find(({ id }, at) => named.findIndex((one) => one.id === id) !== at);
  // The second would take the place of the first, and of its acceptance.
  if (twice) throw usageError(`cannot take --milestone ${JSON.stringify(plainText(twice.id))} twice: an id names one`);
  // A title that is given anew keeps what else is known of it.
  const merged = named.map((one) => {
    const before = [...(written?.milestones ?? []), ...known].find(({ id }) => id === one.id);
    return before ? { ...before, title: one.title } : one;
  });
  const all = [...(written?.milestones ?? []).filter(({ id }) => !merged.some((one) => one.id === id)), ...merged];
  const milestones = riskyFrom(input.texts('risky'), acceptanceFrom(input.texts('acceptance'), all, known), known);
  const unseen = {
    verify: input.has('verify') ? [] : (written?.verify ?? []),
    stop_conditions: input.has('stop-when') ? [] : (written?.stopConditions ?? []),
  };
  return {
    milestones,
    drop: input.has('drop') ? [...input.texts('drop')] : [],
    verify: input.has('verify')
      ? input.texts('verify').map((text) => verifyOf(text, seconds))
      : (written?.verify ?? null),
    stopConditions: input.has('stop-when')
      ? input.texts('stop-when').map((text) => text.trim())
      : (written?.stopConditions ?? null),
    iterationsMax: input.count('max-iterations') ?? written?.iterationsMax ?? null,
    budgetNotes: input.text('budget-notes') ?? written?.budgetNotes ?? null,
    hasUnseen: commandsOf(unseen).length > 0,
  };
}

async function textOf(context: Context, file: string): Promise<string> {
  if (file === '-') return (await context.readStdin()).toString('utf8');
  const full = path.resolve(context.cwd, file);
  const text = readText(full, planBytes + 1);
  if (text === undefined) throw usageError(`cannot read the plan ${full}: there is no such file`);
  if (text.length > planBytes) throw usageError(`cannot take the plan ${full}: it is larger than 1 MiB`);
  return text;
}
