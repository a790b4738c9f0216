// A folder: there, gone, with something new in it, with so many names. One folder, not what lies below its folders, and at most some
// thousands of names.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { oneLine } from '../core/byte-names.ts';
import { errnoOf, FaultError, usageError } from '../core/errors.ts';
import { matchesGlob } from '../core/glob.ts';
import { limits, watchNames } from '../core/limits.ts';
import type { Given } from '../core/option-table.ts';
import { listSome, type TargetFacts, targetOf } from '../platform/folders.ts';
import { onPathChange } from '../platform/watch-path.ts';
import { requireReachable, seen, signOf, unreachable } from './local.ts';
import type { Cursor, Fault, Input, Look, Watch } from './watch.ts';

const asked = ['exists', 'gone', 'changed', 'new', 'count'] as const;
type Asked = (typeof asked)[number];

export const dir = {
  id: 'dir',
  summary: 'a folder: there, gone, changed, or with something new in it',
  form: 'PATH',
  words: { min: 1, max: 1 },
  options: {
    exists: { kind: 'flag', help: 'met when it is there (the default)' },
    gone: { kind: 'flag', help: 'met when nothing is there' },
    changed: { kind: 'flag', help: 'met when a name came, went, or is another or a newer file than at the launch' },
    new: { kind: 'text', value: 'PATTERN', help: "met when a name like this ('*.json') came after the launch" },
    count: { kind: 'count', value: 'N', range: limits.watchCount, help: 'met when it has at least so many names' },
  },
  notes: `Names that begin with a dot count only for --changed, or when the pattern begins with one. A folder with more than ${watchNames} names is refused. A name is there before its content is: let whoever writes the file rename it into place, or watch the file itself with --stable.`,
  examples: ["watch dir inbox --new '*.json' --for 1d", 'watch dir shards --count 64 --for 6h --every 30s'],
  isRemote: false,

  read(given, { cwd }) {
    const [word = ''] = given.words;
    if (word === '') throw usageError('cannot watch a folder without a name: give its path');
    const target = path.resolve(cwd, word);
    const condition = conditionIn(given);
    const input = { path: target, ...condition };
    const facts = requireReachable(target);
    if (facts && facts.kind !== 'folder')
      throw usageError(`cannot watch ${target} as a folder: it is none`, 'watch file takes files');
    if (facts && needsNames(condition.ask)) requireNames(target);
    return { input, words: `dir ${target}: ${textOf(condition)}` };
  },

  start(input) {
    const target = String(input.path);
    if (input.ask === 'changed') return { was: contentSign(target, targetOf(target), namesOf(target) ?? []) };
    if (input.ask === 'new')
      return { known: matching(namesOf(target) ?? [], String(input.pattern)).map(short), found: 0 };
    return {};
  },

  async look(input, _tools, cursor) {
    const target = String(input.path);
    try {
      const facts = targetOf(target);
      if (facts && facts.kind !== 'folder') return seen('pending', 'other', `${target} is no folder`);
      return lookAt(input, target, facts, cursor ?? {});
    } catch (error) {
      return unreachable(target, error);
    }
  },

  early: (input, wake) => onPathChange(String(input.path), wake),
} as const satisfies Watch;

type Condition = { ask: Asked } & Record<string, unknown>;

function conditionIn(given: Given): Condition {
  const named = asked.filter((name) => given.has(name));
  if (named.length > 1)
    throw usageError(`cannot take ${named.map((name) => `--${name}`).join(' and ')} together: one condition a watch`);
  const ask = named[0] ?? 'exists';
  if (ask === 'count') return { ask, count: given.count('count') };
  if (ask !== 'new') return { ask };
  const pattern = given.text('new') ?? '';
  if (pattern === '' || pattern.includes('/'))
    throw usageError(`cannot take --new ${JSON.stringify(pattern)}: allowed is a name with * and ?, without a slash`);
  return { ask, pattern };
}

function textOf({ ask, pattern, count }: Condition): string {
  if (ask === 'new') return `new ${pattern}`;
  return ask === 'count' ? `at least ${count} names` : ask;
}

function lookAt(input: Input, target: string, facts: TargetFacts | undefined, cursor: Cursor): Look | Fault {
  const ask = input.ask as Asked;
  const missing = `${target} is not there`;
  if (ask === 'gone') return facts ? seen('pending', 'exists', `${target} is there`) : seen('met', 'gone', missing);
  const names = needsNames(ask) ? namesOf(target) : [];
  if (names === undefined) return { kind: 'fault', cause: 'refused', message: tooMany(target) };
  if (ask === 'changed') return lookForChange(target, facts, names, cursor);
  if (ask === 'new') return lookForNew(target, names, String(input.pattern), cursor);
  if (!facts) return seen('pending', 'missing', missing);
  if (ask === 'exists') return seen('met', 'exists', `${target} is there`);
  const count = names.filter((text) => !text.startsWith('.')).length;
  const isMet = count >= Number(input.count);
  return seen(isMet ? 'met' : 'pending', isMet ? 'enough' : 'fewer', `${target} has ${count} of ${input.count} names`, {
    facts: { count },
  });
}

function lookForChange(target: string, facts: TargetFacts | undefined, names: string[], cursor: Cursor): Look {
  const is = contentSign(target, facts, names);
  const was = typeof cursor.was === 'string' ? cursor.was : is;
  const count = names.length;
  const more = { facts: { count }, cursor: { was: is }, key: is };
  const now = facts ? `${count} names` : 'not there';
  return was === is
    ? seen('pending', 'unchanged', `${target} is unchanged (${now})`, more)
    : seen('met', 'changed', `${target} changed (${now})`, more);
}

/** The key counts what was found, so that each new name is news once; a name that goes may come again. */
function lookForNew(target: string, every: string[], pattern: string, cursor: Cursor): Look {
  const names = matching(every, pattern);
  const known = new Set(Array.isArray(cursor.known) ? cursor.known : names.map(short));
  const fresh = names.filter((text) => !known.has(short(text)));
  const found = (Number.isSafeInteger(cursor.found) ? Number(cursor.found) : 0) + fresh.length;
  const more = {
    facts: { new: fresh.slice(0, 20), count: names.length },
    cursor: { known: names.map(short), found },
    key: `new-${found}`,
  };
  if (fresh.length === 0) return seen('pending', 'nothing_new', `nothing new like ${pattern} in ${target}`, more);
  const rest = fresh.length > 3 ? ` and ${fresh.length - 3} more` : '';
  return seen('met', 'new', `new in ${target}: ${fresh.slice(0, 3).map(oneLine).join(', ')}${rest}`, more);
}

function needsNames(ask: Asked): boolean {
  return ask === 'changed' || ask === 'new' || ask === 'count';
}

/** Sorted; undefined when there are too many. */
function namesOf(target: string): string[] | undefined {
  return listSome(target, watchNames)?.sort();
}

function requireNames(target: string): void {
  try {
    if (namesOf(target) !== undefined) return;
  } catch (error) {
    throw new FaultError('preflight', `cannot watch what is in ${target}: it cannot be read (${errnoOf(error)})`);
  }
  throw usageError(tooMany(target));
}

function matching(names: string[], pattern: string): string[] {
  return names.filter((text) => matchesGlob(pattern, text));
}

function tooMany(target: string): string {
  return `cannot watch what is in ${target}: it has more than ${watchNames} names`;
}

function contentSign(target: string, facts: TargetFacts | undefined, names: string[]): string {
  if (!facts) return 'missing';
  const rows = names.map((text) => `${text}\0${entrySign(path.join(target, text))}`);
  return digest(rows.join('\n'));
}

/** An entry that cannot be looked at (a link into a closed folder) is known by its name only. */
function entrySign(entry: string): string {
  try {
    return signOf(targetOf(entry));
  } catch {
    return 'closed';
  }
}

function short(text: string): string {
  return digest(text).slice(0, 12);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
