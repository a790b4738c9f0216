// The exact commands that get a caller on, as a shell reads them. Every output that names one takes it from here.
import { quoteWords } from '../core/shell-words.ts';
import { selfWords } from '../platform/self.ts';

/** `node FILE VERB ... [--state-dir X]`. `option` is the spec's `state_option`. */
export function nextCommand(option: readonly string[], ...words: string[]): string {
  return quoteWords([...selfWords(), ...words, ...option]);
}

/** Stands where the caller's own words belong; as a task it is refused (commands/task.ts). */
export const taskPlaceholder = '<what to do next>';

export const nextCommands = {
  wait: (id: string, option: readonly string[]): string => nextCommand(option, 'wait', id, '--timeout', '10m'),
  observe: (id: string, option: readonly string[]): string => nextCommand(option, 'observe', id),
  result: (id: string, option: readonly string[]): string => nextCommand(option, 'result', id),
  status: (option: readonly string[]): string => nextCommand(option, 'status'),
  cancel: (id: string, option: readonly string[]): string => nextCommand(option, 'cancel', id),
  restart: (id: string, option: readonly string[]): string => nextCommand(option, 'restart', id),
  doctor: (id: string, option: readonly string[]): string => nextCommand(option, 'doctor', id),
  continue: (id: string, option: readonly string[]): string =>
    nextCommand(option, 'continue', '--job', id, '--prompt', taskPlaceholder),
};
