// A launch that is repeated with its once-key, word for word: it gives the job that it gave before, whatever has changed meanwhile -
// the CLI is gone, the earlier job was cleaned, "latest" is another one. So it is looked for before anything is checked.
import path from 'node:path';
import { exitCodes } from '../core/exit-codes.ts';
import { launchedBefore } from '../jobs/launch.ts';
import { exists } from '../platform/folders.ts';
import { jobPaths } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { checkLaunchOptions, launchWords, tellLaunched } from './launching.ts';
import type { Parsed } from './parse.ts';

/** Options that say who asks and how it is told, not what is asked for. */
const passing = [
  'owner',
  'label',
  'once-key',
  'notify',
  'json',
  'id-only',
  'wait',
  'wait-timeout',
  'foreground',
  'state-dir',
  'prompt-file',
  'stdin',
];

/** What the caller asked for, as said. `task`: the text of a staff job, from whichever source. `folder`: where it would work. */
export function onceWords(verb: string, input: Parsed, folder: string | null, task: string | null): string {
  const options = input.given().filter(([name]) => !passing.includes(name) && !['prompt', 'cwd'].includes(name));
  return JSON.stringify([verb, options.sort(), input.words, input.rest, folder, task]);
}

/** The folder of a command that works here unless told otherwise. */
export function folderSaid(context: Context, input: Parsed): string {
  return path.resolve(context.cwd, input.text('cwd') ?? '.');
}

/** The reply of a repeated launch; undefined when it is a first one (or another request: that is refused later). */
export async function repeatedLaunch(
  context: Context,
  input: Parsed,
  words: string,
  isSynchronous: boolean,
): Promise<Reply | undefined> {
  const { onceKey } = launchWords(input);
  if (onceKey === null) return undefined;
  checkLaunchOptions(input);
  const root = context.root(input);
  const launched = await launchedBefore(root, onceKey, words);
  if (!launched) return undefined;
  const { folder } = jobPaths(root.folder, launched.id);
  return exists(folder) ? tellLaunched(context, input, root, launched, isSynchronous) : tellCleaned(input, launched.id);
}

/** A key outlives its job: the id is still the answer, and there is nothing to collect any more. */
function tellCleaned(input: Parsed, id: string): Reply {
  const note = `job ${id} had this once-key; its record was removed by clean, and nothing was started`;
  if (input.has('id-only')) return { code: exitCodes.done, out: `${id}\n` };
  if (input.has('json')) return { code: exitCodes.done, json: { id, new: false, cleaned: true, next: {} } };
  return { code: exitCodes.done, out: `${note}\n` };
}
