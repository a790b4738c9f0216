// Who is told of the end: `--notify` of this call, the notifier of an earlier job that is started again, or the one of the user's own config.
// Found and checked at launch, because nobody watches when it is needed. Never from the state folder's config.
import path from 'node:path';
import { FaultError } from '../core/errors.ts';
import { parseNotify } from '../core/notify-words.ts';
import { variables } from '../platform/env.ts';
import { findProgram } from '../platform/which.ts';
import { mayMention, userConfigFile } from '../store/user-config-file.ts';
import type { Context } from './command.ts';
import type { Parsed } from './parse.ts';

/** Absolute program and its arguments; null when nobody is told. */
export async function notifyOf(
  context: Pick<Context, 'cwd'>,
  input: Parsed,
  inherited: readonly string[] | null | undefined,
): Promise<string[] | null> {
  const text = input.text('notify');
  if (text === 'none') return null;
  if (text !== undefined) return resolved(parseNotify(text), '--notify', context.cwd);
  if (inherited) return resolved(inherited, 'the notifier of the earlier job', context.cwd);
  if (!mayMention('notify')) return null;
  const { readUserConfig } = await import('../store/config.ts');
  const { notify } = readUserConfig();
  return notify ? resolved(notify, `"notify" of ${userConfigFile()}`, null) : null;
}

/** `cwd` null: a config counts everywhere, so a path in it must be absolute. */
function resolved(words: readonly string[], source: string, cwd: string | null): string[] {
  const [name = '', ...args] = words;
  const isRelative = name.includes('/') && !path.isAbsolute(name);
  const program = cwd === null && isRelative ? undefined : findProgram(name, cwd ?? '/');
  if (program !== undefined) return [program, ...args];
  const where = !name.includes('/')
    ? `it is not on PATH (${variables.searchPath() || 'empty'})`
    : cwd === null && isRelative
      ? 'it must be absolute or on PATH'
      : `no executable file of that name${isRelative ? ` (looked from ${cwd})` : ''}`;
  throw new FaultError(
    'preflight',
    `cannot use ${JSON.stringify(name)} as ${source}: ${where}`,
    'give the path of the program',
  );
}
