// `ask`: a question to an agent CLI, answered before the command returns. Still a recorded job: killing `ask` does not end it.
import type { Command } from './command.ts';
import { launchOptions, staffOptions } from './options.ts';
import { folderOf } from './run.ts';
import { freshStaff, launchStaff, profileOf, taskOf } from './staffing.ts';

export const ask: Command = {
  name: 'ask',
  summary: 'ask an agent CLI and print its answer (a recorded job)',
  form: '(--prompt TEXT | --prompt-file PATH | --stdin) [options]',
  words: { min: 0, max: 0 },
  options: {
    ...staffOptions,
    cwd: { kind: 'text', value: 'DIR', help: 'folder to look at (default: here)' },
    ...launchOptions,
  },
  notes: 'Default profile: restricted. Exit codes as of wait. With --id-only it returns at once, as staffer does.',
  examples: ['ask --backend codex --prompt "What does this repository do?"'],

  async run(context, input) {
    const cwd = folderOf(context, input);
    const prompt = await taskOf(context, input);
    const staff = freshStaff(input, { mode: 'ask', prompt, profile: profileOf(input, 'restricted'), cwd });
    return launchStaff(context, input, {
      verb: 'ask',
      staff,
      cwd,
      lineage: null,
      isSynchronous: !input.has('id-only'),
    });
  },
};
