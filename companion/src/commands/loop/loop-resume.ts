// `loop resume`: everything that a reader without memory needs, in the right order, and then the check, whose code it ends with.
import { exitCodes } from '../../core/exit-codes.ts';
import { loopLimits } from '../../core/limits-loop.ts';
import { evaluate } from '../../loop/evaluate.ts';
import { readLoop, requireLoop } from '../../loop/files.ts';
import { gateText } from '../../loop/gate-words.ts';
import { lastWords } from '../../loop/go-on.ts';
import { digestOf } from '../../loop/judge.ts';
import { bounded, entryLines, handoffLines, stateLines } from '../../loop/page.ts';
import { checkLoopFolder, loopPlace } from '../../loop/place.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const resume: Command = {
  name: 'loop resume',
  summary: 'the pack for a fresh reader: handoff, state, journal, check; at most 200 lines',
  form: '[options]',
  words: { min: 0, max: 0 },
  options: common,
  notes:
    'Ends with the code of loop check: 0 go on with the next milestone, 3 mend the loop files first and begin nothing.',
  examples: ['loop resume'],

  async run(context, input) {
    const place = loopPlace(context.cwd, context.root(input));
    if (!checkLoopFolder(place)) requireLoop(place);
    const read = readLoop(place);
    const state = read.kind === 'ok' ? read.state : null;
    const report = await evaluate(place, { runCommands: false, environment: {} });
    const holds = report.failed_checks.length === 0;
    const digest = digestOf(place, report.questions);
    const lines = [
      '-- handoff',
      ...handoffLines(place, 70),
      '',
      '-- state',
      ...(state ? stateLines(state) : ['state.json cannot be read']),
      '',
      '-- journal',
      ...entryLines(place, 40),
      '',
      '-- check',
      ...bounded(gateText(report, digest).trimEnd().split('\n'), 55),
      '',
      ...lastWords(place, state, holds),
    ];
    return {
      code: holds ? exitCodes.done : exitCodes.unsuccessful,
      out: `${bounded(lines, loopLimits.resumeLines).join('\n')}\n`,
      ...(input.has('json') ? { json: { state, holds, ...report, judge_digest: digest } } : {}),
    };
  },
};
