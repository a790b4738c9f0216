// `loop status`: where the loop stands, in one bounded page. Never derived from the history of git.
import { exitCodes } from '../../core/exit-codes.ts';
import { loopCommand, requireLoop } from '../../loop/files.ts';
import { entryLines, handoffLines, stateLines } from '../../loop/page.ts';
import { loopPlace } from '../../loop/place.ts';
import { isEdited } from '../../loop/stamp.ts';
import { isTrusted } from '../../loop/trust.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

const pageMost = 60;
const handoffMost = 26;

export const status: Command = {
  name: 'loop status',
  summary: 'where the loop stands: handoff, next milestone, newest journal entries',
  form: '[options]',
  words: { min: 0, max: 0 },
  options: common,
  examples: ['loop status'],

  async run(context, input) {
    const place = loopPlace(context.cwd, context.root(input));
    const state = requireLoop(place);
    const [edited, trusted] = [isEdited(state), isTrusted(place, state)];
    const head = [
      ...stateLines(state),
      ...(edited ? [`state.json was edited by hand: ${loopCommand(place, 'trust')}`] : []),
      ...(trusted ? [] : [`its commands are not trusted here: ${loopCommand(place, 'trust')}`]),
      '',
      '-- handoff',
      ...handoffLines(place, handoffMost),
      '',
      '-- journal',
    ];
    const lines = [...head, ...entryLines(place, pageMost - head.length)];
    return {
      code: exitCodes.done,
      out: `${lines.join('\n')}\n`,
      ...(input.has('json') ? { json: { folder: place.folder, edited, trusted, state } } : {}),
    };
  },
};
