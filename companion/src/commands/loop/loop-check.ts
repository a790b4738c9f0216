// `loop check`: the mechanical checks of a boundary; nothing is counted and, without --run, nothing of the repository is run.
import { exitCodes } from '../../core/exit-codes.ts';
import { evaluate } from '../../loop/evaluate.ts';
import { readLoop, requireLoop } from '../../loop/files.ts';
import { gateText } from '../../loop/gate-words.ts';
import { digestOf } from '../../loop/judge.ts';
import { checkLoopFolder, loopPlace } from '../../loop/place.ts';
import { requireTrust } from '../../loop/trust.ts';
import { callerEnvironment } from '../../platform/env.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const check: Command = {
  name: 'loop check',
  summary: 'look at the boundary: 0 it holds, 3 it does not; counts nothing',
  form: '[--run] [options]',
  words: { min: 0, max: 0 },
  options: {
    run: { kind: 'flag', help: 'run the verify commands and cmd: conditions too (after loop trust)' },
    ...common,
  },
  examples: ['loop check', 'loop check --run --json'],

  async run(context, input) {
    const place = loopPlace(context.cwd, context.root(input));
    if (!checkLoopFolder(place)) requireLoop(place);
    const read = readLoop(place);
    if (input.has('run') && read.kind === 'ok') requireTrust(place, read.state);
    const report = await evaluate(place, {
      runCommands: input.has('run') && read.kind === 'ok',
      environment: callerEnvironment(),
    });
    const digest = digestOf(place, report.questions);
    const holds = report.failed_checks.length === 0;
    return {
      code: holds ? exitCodes.done : exitCodes.unsuccessful,
      out: gateText(report, digest),
      ...(input.has('json') ? { json: { holds, ...report, judge_digest: digest } } : {}),
    };
  },
};
