// The launch verbs of staff: one form, one row of the mode table each.
import { type ModeId, modes } from '../core/modes.ts';
import type { OptionTable } from '../core/option-table.ts';
import type { Command } from './command.ts';
import { folderSaid, onceWords, repeatedLaunch } from './once-words.ts';
import { launchOptions, staffOptions, writerOptions } from './options.ts';
import { folderOf } from './run.ts';
import { freshStaff, launchStaff, taskOf } from './staffing.ts';

export interface StaffVerb {
  mode: ModeId;
  /** Options of this verb alone. */
  options?: OptionTable;
  notes?: string;
  examples: readonly string[];
  /** Waits for the answer before it returns. */
  isSynchronous?: boolean;
}

export function makeStaffVerb({ mode: id, options = {}, notes, examples, isSynchronous = false }: StaffVerb): Command {
  const mode = modes[id];
  return {
    name: id,
    summary: mode.summary,
    form: '(--prompt TEXT | --prompt-file PATH | --stdin) [options]',
    words: { min: 0, max: 0 },
    options: {
      ...staffOptions,
      ...options,
      cwd: { kind: 'text', value: 'DIR', help: 'folder to work in (default: here)' },
      ...writerOptions,
      ...launchOptions,
    },
    notes: [
      `Default profile: ${mode.profile}. The task reaches the agent byte for byte, with the words of the mode around it.`,
      notes,
    ]
      .filter((line) => line !== undefined)
      .join('\n'),
    examples,

    async run(context, input) {
      const prompt = await taskOf(context, input);
      const words = onceWords(id, input, folderSaid(context, input), prompt);
      const isWaiting = isSynchronous && !input.has('id-only');
      const repeated = await repeatedLaunch(context, input, words, isWaiting);
      if (repeated) return repeated;
      const cwd = folderOf(context, input);
      const staff = freshStaff(context, input, { mode: id, prompt, cwd });
      return launchStaff(context, input, {
        verb: id,
        staff,
        cwd,
        lineage: null,
        isSynchronous: isWaiting,
        words,
      });
    },
  };
}
