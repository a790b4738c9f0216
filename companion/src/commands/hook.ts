// `hook HOST EVENT`: what a host calls at the end of a turn and with a new prompt, turned on by `setup --hooks`. It names what is to be
// done about the jobs of this session, or says nothing. It holds nobody up: 0 whatever goes wrong with us (main.ts), and it is
// over in time whatever it has seen by then.
import { FaultError, messageOf, usageError } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { exitCodes } from '../core/exit-codes.ts';
import {
  type HookEvent,
  hookEvents,
  hookHosts,
  hookReply,
  hookTrouble,
  hookWhom,
  readHookInput,
} from '../core/hooks.ts';
import { evidenceChars, hookEndMs, hookInputBytes, hookLeastMs, hookMs } from '../core/limits.ts';
import { hookLines, lookForHook } from '../jobs/hook-look.ts';
import { sinceStartMs, sleep } from '../platform/clock.ts';
import { variables } from '../platform/env.ts';
import { checkRoot, locateRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';
import type { Parsed } from './parse.ts';

export const hook: Command = {
  name: 'hook',
  summary: 'what an agent CLI calls at the end of a turn or with a new prompt',
  form: 'HOST EVENT',
  words: { min: 2, max: 2 },
  options: { ...common },
  notes:
    `HOST is ${hookHosts.join(' or ')}, EVENT ${hookEvents.join(' or ')}. Reads the host's JSON from stdin and answers in its form: finished ` +
    'jobs that nobody has collected, and live ones for which idle-check would say no, of JOB_OWNER or else of the worktree; nothing when there is ' +
    'nothing to say. When there was no time to look at live jobs, it says so.\n' +
    `${hookWhom}\n` +
    'Turned on by "setup --hooks HOST --apply" (without --apply it shows the file and the change), off by "setup --hooks none --apply".\n' +
    'Exit codes: always 0, within 200 ms, whatever goes wrong. It never holds up the host and changes nothing.',
  examples: ['hook claude Stop', 'hook codex UserPromptSubmit'],

  async run(context, input) {
    const event = eventOf(input);
    // A person who tries it at a terminal has no host's JSON to give.
    const bytes = await context.readStdinWithin(hookInputBytes, Math.max(hookLeastMs, leftMs()) / 2);
    const told = readHookInput(bytes?.toString('utf8') ?? '');
    if (told.isAgain) return { code: exitCodes.done };
    // A machine that took its time until here must not make every hook say nothing.
    const endMs = sinceStartMs() + Math.max(hookLeastMs, leftMs());
    try {
      const text = await look(input, { told: told.cwd, own: context.cwd }, endMs);
      return text === '' ? { code: exitCodes.done } : { code: exitCodes.done, json: hookReply(event, text) };
    } catch (error) {
      return { code: exitCodes.done, json: hookTrouble(reasonOf(error)) };
    }
  },
};

/** Of the time in all, what is not needed for the end. */
function leftMs(): number {
  return Math.max(0, hookMs - hookEndMs - sinceStartMs());
}

function eventOf(input: Parsed): HookEvent {
  const [host, word] = input.words;
  const event = hookEvents.find((one) => one === word);
  if (event !== undefined && hookHosts.some((one) => one === host)) return event;
  throw usageError(
    `cannot answer ${JSON.stringify(`${host} ${word}`)}: the hosts are ${hookHosts.join(', ')}, the events ${hookEvents.join(', ')}`,
  );
}

/** A folder that was named stands where we are; otherwise it is that of the session's worktree. */
async function look(input: Parsed, cwd: { told: string | null; own: string }, endMs: number): Promise<string> {
  const named = { option: input.text('state-dir'), variable: variables.stateDir() };
  const isNamed = (named.option ?? named.variable) !== undefined;
  const root = locateRoot({ ...named, cwd: isNamed ? cwd.own : (cwd.told ?? cwd.own) });
  if (!checkRoot(root.folder)) return '';
  const over = sleep(Math.max(0, endMs - sinceStartMs()));
  const found = lookForHook(root, variables.owner() ?? null, () => sinceStartMs() >= endMs);
  return (await hookLines(root, found, over)).join('\n');
}

/** A reason may hold a path, and a path what somebody made up. */
function reasonOf(error: unknown): string {
  const text = error instanceof FaultError ? error.message : messageOf(error);
  return excerpt(plainText(text).replaceAll('\n', ' '), 2 * evidenceChars);
}
