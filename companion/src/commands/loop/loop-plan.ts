// `loop plan`: change what is not done yet.
import { usageError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { changeLoop, loopCommand, requireLoop } from '../../loop/files.ts';
import { loopPlace } from '../../loop/place.ts';
import { withPlan } from '../../loop/plan.ts';
import { rewriteHandoff } from '../../loop/rewrite.ts';
import { isTrusted, trust } from '../../loop/trust.ts';
import type { Command } from '../command.ts';
import { planOf, planOptions } from './plan-options.ts';

export const plan: Command = {
  name: 'loop plan',
  summary: 'add, change or drop milestones; verify commands, stop conditions, budget',
  form: '[options]',
  words: { min: 0, max: 0 },
  options: { ...planOptions, drop: { kind: 'list', value: 'ID', help: 'take a pending milestone out' } },
  notes:
    'Done milestones and the current one stay as they are. A raised budget takes back a stop by budget. Commands given here are trusted; those that stand there are not by that.',
  examples: [
    'loop plan --milestone "p2: read strings"',
    'loop plan --acceptance "p2: test/strings passes"',
    'loop plan --max-iterations 40',
  ],

  async run(context, input) {
    const place = loopPlace(context.cwd, context.root(input));
    const known = requireLoop(place);
    if (input.given().every(([option]) => ['state-dir', 'json', 'verify-timeout'].includes(option)))
      throw usageError('cannot change the plan: nothing was given', loopCommand(place, 'plan', '--help'));
    const given = await planOf(context, input, known.milestones);
    const state = await changeLoop(place, (old) => {
      const next = withPlan(old, given);
      // Commands that stand there and were not trusted do not become so by others that came from the command line.
      const onlyOurs =
        (given.verify !== null || old.verify.length === 0) &&
        (given.stopConditions !== null || !old.stop_conditions.some((text) => text.startsWith('cmd:')));
      if (!given.hasUnseen && (isTrusted(place, old) || onlyOurs)) trust(place, next);
      return next;
    });
    await rewriteHandoff(place);
    const left = state.milestones.filter(({ status }) => status !== 'done').length;
    return {
      code: exitCodes.done,
      out: `${state.milestones.length} milestones, ${left} left; ${state.verify.length} verify commands, ${state.stop_conditions.length} stop conditions\n`,
      ...(input.has('json') ? { json: { state } } : {}),
    };
  },
};
