// `loop next`: what comes next; with --prompt the brief for whoever does it.

import { oneLine } from '../../core/byte-names.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { milestoneBrief } from '../../loop/brief.ts';
import { nextMilestone, requireLoop } from '../../loop/files.ts';
import { goOn } from '../../loop/go-on.ts';
import { acceptanceOf } from '../../loop/handoff.ts';
import { loopPlace } from '../../loop/place.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const next: Command = {
  name: 'loop next',
  summary: 'the next milestone; --prompt prints the whole brief for it',
  form: '[--prompt] [options]',
  words: { min: 0, max: 0 },
  options: { prompt: { kind: 'flag', help: 'the brief: acceptance, order of work, suite, rules' }, ...common },
  notes: 'Hand the brief to a staff job with --stdin, and name its milestone: implement --milestone ID --stdin.',
  examples: ['loop next', 'loop next --prompt | job-companion implement --stdin'],

  async run(context, input) {
    const place = loopPlace(context.cwd, context.root(input));
    const state = requireLoop(place);
    const milestone = nextMilestone(state) ?? null;
    const json = { milestone, iteration: state.iteration, stopped: state.stopped };
    if (!milestone)
      return {
        code: exitCodes.done,
        out: `${goOn(place, state)}\n`,
        ...(input.has('json') ? { json } : {}),
      };
    const brief = milestoneBrief(state, milestone, { commits: 'checkpoint' });
    if (input.has('prompt'))
      return { code: exitCodes.done, out: brief, ...(input.has('json') ? { json: { ...json, prompt: brief } } : {}) };
    const lines = [
      `${milestone.id} (${milestone.status}): ${oneLine(milestone.title)}`,
      ...acceptanceOf(milestone).map((line) => `  - ${line}`),
      goOn(place, state),
    ];
    return { code: exitCodes.done, out: `${lines.join('\n')}\n`, ...(input.has('json') ? { json } : {}) };
  },
};
