// `idle-check`: may the caller end its turn now? Each live job must have somebody whom its end wakes, and one thing behind that.
import { FaultError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { judgeIdle } from '../jobs/idle.ts';
import { variables } from '../platform/env.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { idleDocument } from './idle-document.ts';
import { idlePage } from './idle-page.ts';
import { common } from './options.ts';

export const idleCheck: Command = {
  name: 'idle-check',
  summary: 'may the caller go idle now: who delivers each live job, and what stands behind',
  form: '[--owner NAME]',
  words: { min: 0, max: 0 },
  options: {
    owner: { kind: 'text', value: 'NAME', help: 'whose jobs (default: JOB_OWNER, else everybody)' },
    ...common,
  },
  notes:
    'Delivery: a wait (or watch --foreground) that lives, is not stopped and has patience left, or a notifier whose worker lives. Backstop: the finite --timeout of such a wait, or an armed timer of the same owner that somebody waits for. Of a live job with --handback somebody must hear what it hands back: a wait --until handback, or a notifier.\nJobs that a live job started are its business and only counted; when it has ended they belong to its owner.\nExit codes: 0 every live job has a live delivery and exactly one backstop per window (also when nothing is live); 3 something is missing, with the command that arms it; 1 this command is at fault. A wait whose starter is gone counts, and the answer says so: perhaps nobody hears it end.\nIt looks and changes nothing. Start the waits first (in the background), run this as the last thing before going idle.',
  examples: ['idle-check', 'idle-check --owner builder --json'],

  async run(context, input) {
    const root = context.root(input);
    // A folder that was named and is not there is a mistake, not a quiet place.
    if (!checkRoot(root.folder) && root.option.length > 0) {
      throw new FaultError(
        'state_unusable',
        `cannot say whether going idle is safe: there is no state folder ${root.folder}`,
        'name the folder of the jobs, or leave --state-dir and JOB_STATE_DIR out',
      );
    }
    const owner = input.text('owner') ?? variables.owner() ?? null;
    const report = await judgeIdle(root.folder, owner, root.option);
    const code = report.isSafe ? exitCodes.done : exitCodes.unsuccessful;
    return input.has('json')
      ? { code, json: idleDocument(report, owner, root) }
      : { code, out: idlePage(report, owner, root.option) };
  },
};
