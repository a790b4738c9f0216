// `staffer`: hand a task to an agent CLI and go away.
import type { Command } from './command.ts';
import { launchOptions, staffOptions } from './options.ts';
import { folderOf } from './run.ts';
import { freshStaff, launchStaff, profileOf, taskOf } from './staffing.ts';

export const staffer: Command = {
  name: 'staffer',
  summary: 'hand a task to an agent CLI as a job',
  form: '(--prompt TEXT | --prompt-file PATH | --stdin) [options]',
  words: { min: 0, max: 0 },
  options: {
    ...staffOptions,
    cwd: { kind: 'text', value: 'DIR', help: 'folder to work in (default: here)' },
    ...launchOptions,
  },
  notes: 'Default profile: standard. The task reaches the agent byte for byte.',
  examples: [
    'staffer --backend codex --prompt "Fix the failing test in src/parse.ts"',
    'staffer --prompt-file task.md --timeout 90m --once-key task-17',
  ],

  async run(context, input) {
    const cwd = folderOf(context, input);
    const prompt = await taskOf(context, input);
    const staff = freshStaff(input, { mode: 'staffer', prompt, profile: profileOf(input, 'standard'), cwd });
    return launchStaff(context, input, { verb: 'staffer', staff, cwd, lineage: null, isSynchronous: false });
  },
};
