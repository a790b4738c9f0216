// What every launch verb does around its own request: owner, label, key, then the launch, then what is told - the id, the collect
// and observe commands, the result path - or, with --wait, the result itself.

import { usageError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { type JobRequest, type Launched, launch } from '../jobs/launch.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { variables } from '../platform/env.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import type { Parsed } from './parse.ts';

export function launchWords(input: Parsed): Pick<JobRequest, 'owner' | 'label' | 'onceKey'> {
  const onceKey = input.text('once-key') ?? null;
  if (onceKey === '') throw usageError('cannot take --once-key "": a key needs at least one character');
  return { owner: input.text('owner') ?? variables.owner() ?? null, label: input.text('label') ?? null, onceKey };
}

/** Options that only make sense together or not at all. */
export function checkLaunchOptions(input: Parsed): void {
  if (input.has('wait-timeout') && !input.has('wait')) throw usageError('cannot take --wait-timeout without --wait');
  input.duration('wait-timeout');
  for (const other of ['json', 'wait']) {
    if (input.has('id-only') && input.has(other)) throw usageError(`cannot take --id-only and --${other} together`);
  }
}

export async function launchAndTell(
  context: Context,
  input: Parsed,
  request: JobRequest,
  isSynchronous = false,
): Promise<Reply> {
  checkLaunchOptions(input);
  const root = context.root(input);
  return tellLaunched(context, input, root, await launch(root, request), isSynchronous);
}

export async function tellLaunched(
  context: Context,
  input: Parsed,
  root: StateRoot,
  launched: Launched,
  isSynchronous: boolean,
): Promise<Reply> {
  if (input.has('wait') || isSynchronous) {
    const { waitAndTell } = await import('./collecting.ts');
    context.tell(`job ${launched.id}`);
    const timeoutMs = input.duration('wait-timeout') ?? Number.MAX_SAFE_INTEGER;
    return waitAndTell(context, root, [launched.id], {
      mode: 'all',
      timeoutMs,
      heartbeatMs: null,
      isJson: input.has('json'),
    });
  }
  return tellLaunch(root, launched, input);
}

function tellLaunch(root: StateRoot, launched: Launched, input: Parsed): Reply {
  const { id, isNew } = launched;
  if (input.has('id-only')) return { code: exitCodes.done, out: `${id}\n` };
  const paths = jobPaths(root.folder, id);
  const commands = {
    wait: nextCommands.wait(id, root.option),
    observe: nextCommands.observe(id, root.option),
    cancel: nextCommands.cancel(id, root.option),
  };
  if (input.has('json')) {
    return {
      code: exitCodes.done,
      json: {
        id,
        new: isNew,
        folder: paths.folder,
        result_path: paths.result,
        output_path: paths.output,
        next: commands,
      },
    };
  }
  const lines = [
    `job ${id}${isNew ? '' : ' (this once-key had it already; nothing was started)'}`,
    `collect: ${commands.wait}`,
    `observe: ${commands.observe}`,
    `result:  ${paths.result}`,
  ];
  return { code: exitCodes.done, out: `${lines.join('\n')}\n` };
}
