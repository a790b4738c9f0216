// `loop init GOAL`: the three files of a new loop.
import path from 'node:path';
import { FaultError, usageError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { lockLoop, loopCommand, sealState, writeState } from '../../loop/files.ts';
import { headOf, openLoopGit } from '../../loop/git.ts';
import { makeHandoff } from '../../loop/handoff.ts';
import { journalHead } from '../../loop/journal.ts';
import { checkLoopFolder, loopPlace } from '../../loop/place.ts';
import { freshState, planMilestone, withPlan } from '../../loop/plan.ts';
import { trust } from '../../loop/trust.ts';
import { createFile, createFolder, writeFile } from '../../platform/files.ts';
import { exists } from '../../platform/folders.ts';
import type { Command } from '../command.ts';
import { planOf, planOptions } from './plan-options.ts';

export const init: Command = {
  name: 'loop init',
  summary: 'begin a loop: goal, milestones, verify commands',
  form: 'GOAL [options]',
  words: { min: 1, max: 1 },
  options: planOptions,
  notes:
    'Makes .loop/state.json, journal.md and handoff.md at the root of the worktree; commit them. Only this program writes them. Without a milestone the ' +
    'first one is to write the plan (loop plan).',
  examples: ['loop init "port it" --milestone "p1: numbers" --verify "npm t"', 'loop init "port it" --plan plan.json'],

  async run(context, input) {
    const goal = (input.words[0] as string).trim();
    if (goal === '') throw usageError('cannot begin a loop with an empty goal: say what is to be true at its end');
    const place = loopPlace(context.cwd, context.root(input));
    const plan = await planOf(context, input, []);
    const milestones = plan.milestones.length === 0 ? [planMilestone] : plan.milestones;
    const git = openLoopGit(place);
    // What stood there before the loop is nobody's fault in it.
    const boundary = 'git' in git ? headOf(git.git) : null;
    const planned = withPlan({ ...freshState(goal), boundary }, { ...plan, milestones });
    if (checkLoopFolder(place) && exists(place.state)) throw taken(place.folder, loopCommand(place, 'status'));
    const state = await lockLoop(place, () => {
      if (checkLoopFolder(place) && exists(place.state)) throw taken(place.folder, loopCommand(place, 'status'));
      const sealed = sealState(planned);
      createFolder(place.folder);
      // Its files are read byte by byte: no checkout may give them other line ends.
      createFile(path.join(place.folder, '.gitattributes'), '* -text\n');
      createFile(place.journal, journalHead(goal));
      writeFile(place.handoff, makeHandoff(sealed, { risks: [], keyFiles: [], next: [] }));
      // Last: with it there is a loop.
      writeState(place, sealed);
      if (!plan.hasUnseen) trust(place, sealed);
      return sealed;
    });
    const out = [
      `${place.folder}: ${state.milestones.length} milestone${state.milestones.length === 1 ? '' : 's'}, ${state.verify.length} verify command${state.verify.length === 1 ? '' : 's'}`,
      ...(plan.hasUnseen ? [`its commands came from a file; look at them with: ${loopCommand(place, 'trust')}`] : []),
      `next: ${loopCommand(place, 'start')}`,
      '',
    ].join('\n');
    return { code: exitCodes.done, out, ...(input.has('json') ? { json: { folder: place.folder, state } } : {}) };
  },
};

function taken(folder: string, next: string): FaultError {
  return new FaultError('preflight', `cannot begin a loop: there is one in ${folder}`, next);
}
