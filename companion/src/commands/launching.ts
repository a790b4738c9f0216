// What every launch verb does around its own request: owner, label, key, then the launch, then what is told - the id, the collect
// and observe commands, the result path, what there is to warn of - or, with --wait, the result itself.

import { usageError } from '../core/errors.ts';
import { byteLength, plainText } from '../core/excerpt.ts';
import { exitCodes } from '../core/exit-codes.ts';
import type { Spec, Warning } from '../core/job.ts';
import { onStallBytes } from '../core/limits.ts';
import { type JobRequest, type Launched, launch } from '../jobs/launch.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { variables } from '../platform/env.ts';
import { jobPaths, type StateRoot } from '../store/layout.ts';
import { readSpec } from '../store/records.ts';
import type { Context, Reply } from './command.ts';
import { notifyOf } from './notifying.ts';
import type { Parsed } from './parse.ts';
import type { QueueTold } from './queue-note.ts';

/** `earlier`: what a job that goes on or is started again keeps of it, unless it is given. Who asks now comes before who asked then. */
export function launchWords(
  input: Parsed,
  earlier?: Partial<Pick<Spec, 'owner' | 'label' | 'max_live' | 'milestone'>>,
): Pick<JobRequest, 'owner' | 'label' | 'onceKey' | 'maxLive' | 'milestone'> {
  const onceKey = input.text('once-key') ?? null;
  if (onceKey === '') throw usageError('cannot take --once-key "": a key needs at least one character');
  return {
    owner: input.text('owner') ?? variables.owner() ?? earlier?.owner ?? null,
    label: input.text('label') ?? earlier?.label ?? null,
    onceKey,
    maxLive: input.count('max-live') ?? earlier?.max_live ?? null,
    milestone: input.text('milestone') ?? earlier?.milestone ?? null,
  };
}

/** `--on-stall`, where a verb has it. */
export function onStallOf(input: Parsed): string | null {
  const text = input.text('on-stall');
  if (text === undefined) return null;
  if (text.trim() === '') throw usageError('cannot take an empty --on-stall: say what is to be done about a stall');
  const size = byteLength(text);
  if (size > onStallBytes)
    throw usageError(`cannot take --on-stall of ${size} bytes: at most ${onStallBytes} are allowed`);
  return text;
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
  if (input.has('milestone')) await (await import('./milestone.ts')).requireMilestone(context, input, root);
  const notify = await notifyOf(context, input, request.notify);
  return tellLaunched(context, input, root, await launch(root, { ...request, notify }), isSynchronous);
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
    const told = launched.isNew ? warningNotes(root, launched.id) : [];
    const collect = `collect: ${nextCommands.waitOn(launched.id, specOf(root, launched.id), root.option)}`;
    for (const line of [jobLine(launched), collect, ...told]) context.tell(line);
    const timeoutMs = input.duration('wait-timeout') ?? Number.MAX_SAFE_INTEGER;
    return waitAndTell(context, root, [launched.id], {
      mode: 'all',
      timeoutMs,
      heartbeatMs: null,
      isJson: input.has('json'),
      owner: input.text('owner') ?? null,
      told,
    });
  }
  return tellLaunch(root, launched, input);
}

function jobLine({ id, isNew }: Launched): string {
  return `job ${id}${isNew ? '' : ' (this once-key had it already; nothing was started)'}`;
}

/** What was found out at launch, from the record: it says the same whenever it is read. */
function warningsOf(root: StateRoot, id: string): Warning[] {
  return specOf(root, id)?.warnings ?? [];
}

function specOf(root: StateRoot, id: string): Spec | undefined {
  const spec = readSpec(jobPaths(root.folder, id));
  return spec.kind === 'ok' ? spec.value : undefined;
}

function warningNotes(root: StateRoot, id: string): string[] {
  return warningsOf(root, id).map((one) => `warning: ${plainText(one.message)}`);
}

/** Read back from the record: what stands there is what was armed. Other launches pay nothing for it. */
async function timerOf(
  root: StateRoot,
  id: string,
): Promise<{ facts: Record<string, unknown>; line: string } | undefined> {
  if (!id.startsWith('timer-')) return undefined;
  const [{ inspect }, { dueWords, timerFacts }] = await Promise.all([
    import('../jobs/view.ts'),
    import('../jobs/timer-facts.ts'),
  ]);
  const { spec, state } = inspect(root.folder, id);
  if (!spec?.timer) return undefined;
  return { facts: { state: state.state, ...timerFacts(spec.timer) }, line: `due:     ${dueWords(spec.timer)}` };
}

/** A launch without a limit of its own pays nothing for it; what cannot be told keeps nobody from his id. */
async function queueOf(root: StateRoot, id: string): Promise<QueueTold | undefined> {
  const spec = specOf(root, id);
  if (!spec?.max_live) return undefined;
  try {
    return await (await import('./queue-note.ts')).queueNoteOf(root.folder, spec);
  } catch {
    return undefined;
  }
}

async function tellLaunch(root: StateRoot, launched: Launched, input: Parsed): Promise<Reply> {
  const { id, isNew } = launched;
  const notes = warningNotes(root, id);
  if (input.has('id-only')) return { code: exitCodes.done, out: `${id}\n`, notes };
  const paths = jobPaths(root.folder, id);
  const commands = {
    wait: nextCommands.waitOn(id, specOf(root, id), root.option),
    observe: nextCommands.observe(id, root.option),
    cancel: nextCommands.cancel(id, root.option),
  };
  const timer = await timerOf(root, id);
  const queue = isNew ? await queueOf(root, id) : undefined;
  if (input.has('json')) {
    return {
      code: exitCodes.done,
      json: {
        id,
        new: isNew,
        ...(timer ? { ...timer.facts, replaced: launched.replaced ?? [] } : {}),
        ...(queue?.facts ?? {}),
        folder: paths.folder,
        result_path: paths.result,
        output_path: paths.output,
        warnings: warningsOf(root, id),
        next: commands,
      },
    };
  }
  const lines = [
    jobLine(launched),
    ...(timer ? [timer.line] : []),
    ...(queue ? [queue.line] : []),
    ...(launched.replaced ?? []).map((earlier) => `replaced: ${earlier}`),
    `collect: ${commands.wait}`,
    `observe: ${commands.observe}`,
    `result:  ${paths.result}`,
  ];
  return { code: exitCodes.done, out: `${lines.join('\n')}\n`, notes };
}
