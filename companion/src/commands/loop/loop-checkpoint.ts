// `loop checkpoint`: the boundary of an iteration.
import { usageError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { makeCheckpoint } from '../../loop/checkpoint.ts';
import { loopCommand } from '../../loop/files.ts';
import { loopPlace } from '../../loop/place.ts';
import { variables } from '../../platform/env.ts';
import type { Command } from '../command.ts';
import { common } from '../options.ts';

const list = (help: string) => ({ kind: 'list', value: 'TEXT', help }) as const;

export const checkpoint: Command = {
  name: 'loop checkpoint',
  summary: 'milestone done, journal, handoff and one commit',
  form: '[options]',
  words: { min: 0, max: 0 },
  options: {
    did: list('what was done; the first is the description of the commit'),
    verified: list('what proves it'),
    deficiency: list('what is not good yet'),
    next: list('more about the next step'),
    risk: list('a risk that the next reader must know (kept until others are given)'),
    'key-file': list('a file that the next reader opens first (kept until others are given)'),
    message: { kind: 'text', value: 'TEXT', help: 'of the commit; its form is "feat(ID): description"' },
    'not-done': { kind: 'flag', help: 'an iteration is over, the milestone is not' },
    fix: { kind: 'flag', help: 'code that was mended after a NO-GO: no new iteration; "fix(ID): description"' },
    'no-commit': { kind: 'flag', help: 'write the three files only' },
    owner: { kind: 'text', value: 'NAME', help: 'who holds the milestone (default: JOB_OWNER)' },
    ...common,
  },
  notes:
    'All that is not ignored goes into the commit, with the loop files. No hooks of git are run and nothing is signed: the verify commands are what guards it.',
  examples: ['loop checkpoint --did "numbers are read"', 'loop checkpoint --fix --did "no marker left"'],

  async run(context, input) {
    if (input.has('fix') && input.has('not-done')) throw usageError('cannot take --fix and --not-done together');
    const place = loopPlace(context.cwd, context.root(input));
    const owner = input.text('owner') ?? variables.owner() ?? null;
    const done = await makeCheckpoint(place, {
      did: input.texts('did'),
      verified: input.texts('verified'),
      deficiencies: input.texts('deficiency'),
      next: input.texts('next'),
      risks: input.texts('risk'),
      keyFiles: input.texts('key-file'),
      message: input.text('message'),
      owner,
      ...(owner === null ? {} : { job: owner }),
      isDone: !input.has('not-done'),
      isFix: input.has('fix'),
      commits: !input.has('no-commit'),
    });
    const { state, milestone } = done;
    const lines = [
      `iteration ${state.iteration}: ${milestone.id} ${input.has('fix') ? 'mended' : input.has('not-done') ? 'not done' : 'done'}`,
      done.head === null ? 'no commit' : `commit ${done.head.slice(0, 12)}: ${done.message?.split('\n')[0]}`,
      `next: ${loopCommand(place, 'gate')}`,
    ];
    const json = {
      iteration: state.iteration,
      milestone: milestone.id,
      committed: done.committed,
      head: done.head,
      message: done.message,
    };
    return { code: exitCodes.done, out: `${lines.join('\n')}\n`, ...(input.has('json') ? { json } : {}) };
  },
};
