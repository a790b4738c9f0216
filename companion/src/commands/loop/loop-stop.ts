// `loop stop`: no further iteration. `--clear` takes a stop back, also one by a limit.
import { usageError } from '../../core/errors.ts';
import { plainText } from '../../core/excerpt.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { changeLoop, loopCommand } from '../../loop/files.ts';
import { appendEntry, entryText } from '../../loop/journal.ts';
import { loopPlace } from '../../loop/place.ts';
import { isoNow } from '../../platform/clock.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const stop: Command = {
  name: 'loop stop',
  summary: 'end the loop: the next gate says STOP (4)',
  form: '[--reason TEXT | --clear] [options]',
  words: { min: 0, max: 0 },
  options: {
    reason: { kind: 'text', value: 'TEXT', help: 'why; it stands in the journal' },
    clear: { kind: 'flag', help: 'take a stop back, also one by a limit: the loop goes on' },
    ...common,
  },
  examples: ['loop stop --reason "the user wants another design"', 'loop stop --clear'],

  async run(context, input) {
    if (input.has('clear') && input.has('reason')) throw usageError('cannot take --reason and --clear together');
    const place = loopPlace(context.cwd, context.root(input));
    const reason =
      plainText(input.text('reason') ?? 'asked for')
        .trim()
        .slice(0, 500) || 'asked for';
    const isClear = input.has('clear');
    const state = await changeLoop(place, (old) => {
      if (isClear) return { ...old, stopped: null, remediation_rounds: 0, failure_fingerprints: [] };
      const at = isoNow();
      const told = [`STOP: stopped (${reason})`];
      appendEntry(
        place.journal,
        entryText(old.iteration, at, { did: told, verified: [], deficiencies: [], next: [] }, 'stop'),
      );
      return { ...old, stopped: { reason: 'stopped', detail: reason, at } };
    });
    const out = isClear
      ? `the loop goes on: ${loopCommand(place, 'next')}\n`
      : `stopped: ${reason}\ngo on again with: ${loopCommand(place, 'stop', '--clear')}\n`;
    return { code: exitCodes.done, out, ...(input.has('json') ? { json: { stopped: state.stopped } } : {}) };
  },
};
