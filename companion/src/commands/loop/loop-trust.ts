// `loop trust`: what would be run, shown; and sealed only when asked for. Takes over a state that was edited by hand.

import { FaultError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { lockLoop, loopCommand, requireLoop, sealState, writeState } from '../../loop/files.ts';
import { loopPlace } from '../../loop/place.ts';
import { isEdited } from '../../loop/stamp.ts';
import { commandsOf, isTrusted, trust as seal } from '../../loop/trust.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

export const trust: Command = {
  name: 'loop trust',
  summary: "show the loop's commands; --yes lets them run here",
  form: '[--yes] [options]',
  words: { min: 0, max: 0 },
  options: { yes: { kind: 'flag', help: 'trust exactly these commands, and take over an edit by hand' }, ...common },
  notes:
    'They are run with sh in this worktree, as you. Trust is for exactly these commands in this worktree; another command asks again.',
  examples: ['loop trust', 'loop trust --yes'],

  async run(context, input) {
    const place = loopPlace(context.cwd, context.root(input));
    const before = requireLoop(place);
    const [wasEdited, wasTrusted] = [isEdited(before), isTrusted(place, before)];
    const isAsked = input.has('yes');
    if (isAsked)
      await lockLoop(place, () => {
        const state = requireLoop(place);
        // What is shown is what is sealed.
        if (commandsOf(state).join('\0') !== commandsOf(before).join('\0'))
          throw new FaultError(
            'busy',
            'cannot trust the commands: they changed in this moment',
            loopCommand(place, 'trust'),
          );
        if (isEdited(state)) writeState(place, sealState(state));
        seal(place, requireLoop(place));
      });
    const commands = commandsOf(before);
    const holds = isAsked || (wasTrusted && !wasEdited);
    const lines = [
      ...commands.map((text) => `  ${shown(text)}`),
      commands.length === 0
        ? 'the loop has no commands'
        : `${commands.length} command${commands.length === 1 ? '' : 's'}: ${isAsked || wasTrusted ? 'trusted' : 'NOT trusted'}`,
      ...(wasEdited ? [`state.json was edited by hand: ${isAsked ? 'taken over' : 'not taken over'}`] : []),
      ...(holds ? [] : [`trust them with: ${loopCommand(place, 'trust', '--yes')}`]),
    ];
    const json = { commands, trusted: isAsked || wasTrusted, edited: wasEdited && !isAsked };
    return {
      code: holds ? exitCodes.done : exitCodes.unsuccessful,
      out: `${lines.join('\n')}\n`,
      ...(input.has('json') ? { json } : {}),
    };
  },
};

/**
 * Every character of a command, because all of them are run: plainText would leave out what stands inside an escape sequence. A line end
 * is one (`\n` in a comment would look harmless); what cannot be seen is named.
 */
function shown(text: string): string {
  const named = (character: string) =>
    `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  return text
    .split('\n')
    .map((line) => line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, named))
    .join('\n    | ');
}
