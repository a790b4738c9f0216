// `cancel ID`: ask for the end of a job; success only after it is published as canceled.

import { FaultError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { cancelJob } from '../jobs/cancel.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { conditionOf, isEnded, type View } from '../jobs/view.ts';
import { variables } from '../platform/env.ts';
import { requireWholeId } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { warningNote } from './ended.ts';
import { common } from './options.ts';
import { runNotes } from './run-notes.ts';

export const cancel: Command = {
  name: 'cancel',
  summary: 'end a job and its whole process tree',
  form: 'ID [--why TEXT]',
  words: { min: 1, max: 1 },
  options: {
    why: { kind: 'text', value: 'TEXT', help: 'kept in the record' },
    owner: { kind: 'text', value: 'NAME', help: 'who asks (default: JOB_OWNER)' },
    ...common,
  },
  notes:
    'Exit codes: 0 canceled (also when it already was), 1 it had ended otherwise, 2 asked for and not settled yet.',
  examples: ['cancel run-mik3x9ab-4f7q2z', 'cancel run-mik3x9ab-4f7q2z --why "wrong branch"'],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    const id = requireWholeId(root, input.words[0] as string);
    const reply = await cancelJob(root.folder, id, {
      owner: input.text('owner') ?? variables.owner() ?? null,
      why: input.text('why') ?? null,
    });
    const { state, paths } = reply.view;
    const json = { id, result: reply.result, state: state.state, error: state.error, result_path: paths.result };
    if (reply.result === 'canceled') {
      const out = `${id}: canceled\nreport: ${paths.result}\n`;
      return input.has('json')
        ? { code: exitCodes.done, json: { ...json, ...taskJson(reply.view) } }
        : { code: exitCodes.done, out, notes: taskNotes(reply.view) };
    }
    if (reply.result === 'ended_before' || isEnded(state)) {
      if (!isEnded(state))
        throw new FaultError(
          'preflight',
          `cannot cancel job ${id}: its command has ended; how its task stands was not asked yet`,
          nextCommands.wait(id, root.option),
        );
      const cause = state.error ? ` (${state.error.code}: ${state.error.message})` : '';
      throw new FaultError(
        'preflight',
        `cannot cancel job ${id}: it ended as ${state.state}${cause}`,
        nextCommands.result(id, root.option),
      );
    }
    const health = healthOf(reply.view, conditionOf(reply.view));
    const worker = reply.view.launch ? `; its worker is process ${reply.view.launch.worker.pid}` : '';
    const why = `${health.reason ? `; ${health.reason}` : ''}${worker}`;
    const text = `${id}: the request is stored, the job has not ended yet (${state.state}${why}); look again with:\n${nextCommands.observe(id, root.option)}\n`;
    return input.has('json') ? { code: exitCodes.pending, json } : { code: exitCodes.pending, out: text };
  },
};

/** Of a detached task only the watching over it has ended: whoever canceled must hear that. */
function taskNotes(view: View): string[] {
  if (!view.spec?.run?.status_cmd) return [];
  return [...runNotes(view), ...view.state.warnings.map(warningNote)];
}

function taskJson({ spec, state }: View): object {
  const { task_status, task_exit_code, warnings } = state;
  return spec?.run?.status_cmd ? { task_status, task_exit_code, warnings } : {};
}
