// `loop pace`: a number of seconds until the next look, with the reason.
import { usageError } from '../../core/errors.ts';
import { plainText } from '../../core/excerpt.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { loopLimits } from '../../core/limits-loop.ts';
import { lockLoop, readLoop } from '../../loop/files.ts';
import { appendEntry, entryText } from '../../loop/journal.ts';
import { paceFor, type WaitingOn, waitingOn } from '../../loop/pace.ts';
import { type LoopPlace, loopPlace } from '../../loop/place.ts';
import { isoNow } from '../../platform/clock.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const pace: Command = {
  name: 'loop pace',
  summary: 'how long to pause before the next iteration',
  form: '--waiting-on WHAT [--seconds N --reason TEXT] [options]',
  words: { min: 0, max: 0 },
  options: {
    'waiting-on': { kind: 'choice', value: 'WHAT', choices: waitingOn, help: waitingOn.join(', ') },
    seconds: {
      kind: 'count',
      value: 'N',
      range: { default: 1200, min: 1, max: 86_400 },
      help: 'another number; outside 60 to 1800 it needs --reason',
    },
    reason: { kind: 'text', value: 'TEXT', help: 'why' },
    ...common,
  },
  notes:
    'external 60 to 270 s, minutes5 270 s, long 1200 to 1800 s, tracked 1200 s or more, human 1800 s, none 1200 s.',
  examples: ['loop pace --waiting-on external', 'loop pace --waiting-on none --seconds 3600 --reason "night"'],

  async run(context, input) {
    const what = input.text('waiting-on') as WaitingOn | undefined;
    if (what === undefined) throw usageError(`cannot pace without --waiting-on; it is one of ${waitingOn.join(', ')}`);
    const { seconds, range, reason } = paceFor(what, input.count('seconds'), input.text('reason'));
    const json = { waiting_on: what, seconds, range, reason: plainText(reason) };
    const isOutside = seconds < loopLimits.pace.least || seconds > loopLimits.pace.most;
    if (isOutside)
      await note(loopPlace(context.cwd, context.root(input)), `pause of ${seconds} s (${what}): ${json.reason}`);
    return {
      code: exitCodes.done,
      out: `${seconds}\n`,
      notes: [json.reason],
      ...(input.has('json') ? { json } : {}),
    };
  },
};

/** A number out of range, with its reason, stands in the journal, where there is a loop. */
async function note(place: LoopPlace, text: string): Promise<void> {
  const read = readLoop(place);
  if (read.kind !== 'ok' || read.isEdited) return;
  const parts = { did: [text], verified: [], deficiencies: [], next: [] };
  await lockLoop(place, () => appendEntry(place.journal, entryText(read.state.iteration, isoNow(), parts, 'pause')));
}
