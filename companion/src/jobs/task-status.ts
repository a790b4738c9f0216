// Runs under a launcher that detaches itself (contract 8): the job watches over a task that is not its own. At the end, whatever it was, the
// launcher's status command is asked once how the task stands. Its answer counts only for the task that was named at launch; it is told
// beside the outcome and never changes it. Without an answer that counts, everything about the task is unknown.
import { formatDuration } from '../core/duration.ts';
import { messageOf } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Spec, Warning } from '../core/job.ts';
import { evidenceChars, excerptBytes, probeBytes, taskStatusMs } from '../core/limits.ts';
import type { EndReason } from '../core/outcome.ts';
import { formatSize } from '../core/size.ts';
import { probeEnvironment } from '../platform/env.ts';
import { findEscaped, type Tree } from '../platform/process-members.ts';
import { endProbes } from '../platform/process-tree.ts';
import { runTool, type ToolAnswer } from '../platform/tool.ts';
import type { TaskAnswer } from './end-state.ts';

/** `tree`: as it is after it was ended. Undefined for a job without a status command. */
export async function askTask(
  spec: Spec,
  tree: Tree,
  end: { reason: EndReason; isStarted: boolean },
): Promise<TaskAnswer | undefined> {
  const { status_cmd: line, identity = null } = spec.run ?? {};
  if (!line) return undefined;
  const left = end.isStarted && !ownEnds.includes(end.reason) ? [leftWarning(end.reason, tree)] : [];
  const answer = await ask(spec, line);
  endProbes(tree);
  const read = readAnswer(answer, identity ?? '');
  if (!('why' in read)) return { ...read, warnings: left };
  const message = `how the task stands is not known: the status command ${read.why}`;
  const warnings = [...left, { code: 'task_unknown', message }];
  return { task_status: 'unknown', task_exit_code: 'unknown', warnings };
}

/** Nothing was cut short. */
const ownEnds: readonly EndReason[] = ['exited', 'spawn_failed', 'never_started'];

async function ask(spec: Spec, line: string): Promise<ToolAnswer> {
  const { cwd } = spec;
  const environment = probeEnvironment(spec);
  try {
    const shell = { program: '/bin/sh', args: ['-c', line], cwd, environment };
    return await runTool({ ...shell, timeoutMs: taskStatusMs, limit: probeBytes });
  } catch (error) {
    // A command line that the system finds too long.
    return { how: 'failed', code: null, reason: messageOf(error), stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  }
}

type Known = Pick<TaskAnswer, 'task_status' | 'task_exit_code'>;

/** Exported for its tests. */
export function readAnswer(answer: ToolAnswer, identity: string): Known | { why: string } {
  const trouble = troubleOf(answer);
  if (trouble !== undefined) return { why: trouble };
  let told: unknown;
  try {
    told = JSON.parse(answer.stdout.toString('utf8'));
  } catch {
    return { why: 'printed no JSON object' };
  }
  if (typeof told !== 'object' || told === null || Array.isArray(told)) return { why: 'printed no JSON object' };
  const { identity: named, status, exit_code: code } = told as Record<string, unknown>;
  // A pid or a number of a queue may come as a number.
  if (typeof named !== 'string' && !Number.isSafeInteger(named)) return { why: 'names no task' };
  if (String(named) !== identity) return { why: `names another task (${oneLine(String(named))})` };
  if (typeof status !== 'string' || oneLine(status) === '') return { why: 'tells no status' };
  return { task_status: oneLine(status), task_exit_code: Number.isSafeInteger(code) ? (code as number) : 'unknown' };
}

function troubleOf({ how, code, reason, stderr }: ToolAnswer): string | undefined {
  switch (how) {
    case 'timeout':
      return `gave no answer within ${formatDuration(taskStatusMs)}`;
    case 'flooded':
      return `printed more than ${formatSize(probeBytes)}`;
    case 'failed':
      return `could not be started (${oneLine(reason ?? 'not known why')})`;
    case 'aborted':
      return 'was broken off';
    case 'exited':
      if (code === 0) return undefined;
      return `${code === null ? 'was killed' : `exited with code ${code}`}${saidOf(stderr)}`;
  }
}

function saidOf(stderr: Buffer): string {
  const said = oneLine(stderr.toString('utf8'));
  return said === '' ? '' : ` (${said})`;
}

function oneLine(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), Math.min(evidenceChars, excerptBytes));
}

/** Only the watching is over. */
function leftWarning(reason: EndReason, tree: Tree): Warning {
  const left = findEscaped(tree);
  const named = left.slice(0, 10).map(({ pid, name }) => `${pid} (${oneLine(name)})`);
  const more = left.length > named.length ? ` and ${left.length - named.length} more` : '';
  const where = left.length > 0 ? `left alone: ${named.join(', ')}${more}` : 'none of its processes was found here';
  const message = `only the watching over the task has ended (${reason}); the task itself may live on; ${where}`;
  return { code: 'task_left', message };
}
