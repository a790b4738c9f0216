// `--milestone ID` of a launch: it must be one of the loop in this worktree, so that a slip of the pen is told before anything is started.
import { FaultError, usageError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { loopCommand, readLoop } from '../loop/files.ts';
import { loopPlace } from '../loop/place.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context } from './command.ts';
import type { Parsed } from './parse.ts';

export async function requireMilestone(context: Context, input: Parsed, root: StateRoot): Promise<void> {
  const id = input.text('milestone') ?? '';
  const place = loopPlace(context.cwd, root);
  const read = readLoop(place);
  if (read.kind !== 'ok')
    throw new FaultError(
      'preflight',
      `cannot take --milestone ${JSON.stringify(plainText(id))}: there is no loop in ${place.worktree}`,
      loopCommand(place, 'init', '"GOAL"'),
    );
  const ids = read.state.milestones.map((one) => one.id);
  if (!ids.includes(id))
    throw usageError(
      `cannot take --milestone ${JSON.stringify(plainText(id))}: there is none of that name; there are ${ids.join(', ')}`,
    );
}
