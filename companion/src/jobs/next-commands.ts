// The exact commands that get a caller on, as a shell reads them. Every output that names one takes it from here.
import type { Spec } from '../core/job.ts';
import { quoteWords } from '../core/shell-words.ts';
import { selfWords } from '../platform/self.ts';

/** `node FILE VERB ... [--state-dir X]`. `option` is the spec's `state_option`. */
export function nextCommand(option: readonly string[], ...words: string[]): string {
  return quoteWords([...selfWords(), ...words, ...option]);
}

/** Stands where the caller's own words belong; as a task it is refused (commands/task.ts). */
export const taskPlaceholder = '<what to do next>';

export const handbackWords = ['--until', 'handback'] as const;

function afterWords(after: number | null): string[] {
  return after === null ? [] : ['--after-seq', String(after)];
}

export const nextCommands = {
  /** To the end and no other. */
  wait: (id: string, option: readonly string[]): string => nextCommand(option, 'wait', id, '--timeout', '10m'),
  /**
   * What a caller is to wait for who may go idle over it: also for what an agent hands back, when it has a folder for that. `after`: the
   * caller knows all events up to it.
   */
  waitOn: (
    id: string,
    spec: Pick<Spec, 'handback'> | null | undefined,
    option: readonly string[],
    after: number | null = null,
  ): string =>
    spec?.handback
      ? nextCommand(option, 'wait', id, ...handbackWords, ...afterWords(after), '--timeout', '10m')
      : nextCommands.wait(id, option),
  observe: (id: string, option: readonly string[]): string => nextCommand(option, 'observe', id),
  result: (id: string, option: readonly string[]): string => nextCommand(option, 'result', id),
  verify: (id: string, option: readonly string[]): string => nextCommand(option, 'verify', id),
  status: (option: readonly string[]): string => nextCommand(option, 'status'),
  cancel: (id: string, option: readonly string[]): string => nextCommand(option, 'cancel', id),
  /** A gate, or a loop, judges things as they are now: it is asked anew. */
  restart: (id: string, option: readonly string[]): string => {
    const [verb] = id.split('-');
    if (verb === 'gate') return nextCommand(option, 'loop', 'gate');
    return verb === 'loop' ? nextCommand(option, 'loop', 'run') : nextCommand(option, 'restart', id);
  },
  doctor: (id: string, option: readonly string[]): string => nextCommand(option, 'doctor', id),
  continue: (id: string, option: readonly string[]): string =>
    nextCommand(option, 'continue', '--job', id, '--prompt', taskPlaceholder),
};
