// A file: there, gone, changed, large enough, finished, of a digest, or with something in it. Links are followed. A path that cannot be
// looked at for another reason than that nothing is there ends the watch: it would never tell the truth.
import path from 'node:path';
import { formatDuration } from '../core/duration.ts';
import { usageError } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import type { Given } from '../core/option-table.ts';
import { parsePattern } from '../core/pattern.ts';
import { formatSize } from '../core/size.ts';
import { type TargetFacts, targetOf } from '../platform/folders.ts';
import { onPathChange } from '../platform/watch-path.ts';
import { lookForDigest, lookForStable } from './file-content.ts';
import { lookForPattern, lookForText } from './file-search.ts';
import { requireReachable, seen, signOf, sizeFacts, sizeText, unreachable } from './local.ts';
import type { Cursor, Fault, Input, Look, Tools, Trouble, Watch } from './watch.ts';

const asked = ['exists', 'gone', 'changed', 'contains', 'matches', 'min-size', 'stable', 'sha256'] as const;
type Asked = (typeof asked)[number];

export const file = {
  id: 'file',
  summary: 'a file: there, gone, changed, finished, or with something in it',
  form: 'PATH',
  words: { min: 1, max: 1 },
  options: {
    exists: { kind: 'flag', help: 'met when it is there (the default)' },
    gone: { kind: 'flag', help: 'met when nothing is there' },
    changed: { kind: 'flag', help: 'met when it is not what it was at the launch (also when it appears or goes)' },
    contains: { kind: 'text', value: 'TEXT', help: 'met when this text is in it' },
    matches: { kind: 'text', value: 'REGEX', help: 'met when a line matches (JavaScript, without slashes)' },
    'min-size': { kind: 'size', value: 'SIZE', range: limits.watchSize, help: 'met when it is at least this large' },
    stable: {
      kind: 'duration',
      value: 'D',
      range: limits.watchStable,
      help: 'met when it is there and nothing has written to it for so long',
    },
    sha256: { kind: 'text', value: 'HEX', help: 'met when its content has this digest' },
  },
  notes:
    'Links are followed. At most one of the options; without one, --exists. Text and patterns are looked for in the whole file at first and then in what was added; a pattern sees one line at a time (at most 64 KiB of it).',
  examples: [
    'watch file build/out.tar --for 2h',
    "watch file train.log --matches '^epoch 10 .*done' --for 12h",
    'watch file export.bin --stable 30s --for 1d',
  ],
  isRemote: false,

  read(given, { cwd }) {
    const [word = ''] = given.words;
    if (word === '') throw usageError('cannot watch a file without a name: give its path');
    const target = path.resolve(cwd, word);
    const input = { path: target, ...conditionIn(given) };
    if (requireReachable(target)?.kind === 'folder')
      throw usageError(`cannot watch ${target} as a file: it is a folder`, 'watch dir takes folders');
    return { input, words: `file ${target}: ${textOf(input)}` };
  },

  start(input) {
    return input.ask === 'changed' ? { was: signOf(targetOf(String(input.path))) } : {};
  },

  async look(input, tools, cursor) {
    const target = String(input.path);
    let facts: TargetFacts | undefined;
    try {
      facts = targetOf(target);
    } catch (error) {
      return unreachable(target, error);
    }
    if (facts?.kind === 'folder') return seen('pending', 'folder', `${target} is a folder, no file`);
    return lookAt(input, target, facts, tools, cursor ?? {});
  },

  early: (input, wake) => onPathChange(String(input.path), wake),
} as const satisfies Watch;

type Condition = { ask: Asked } & Record<string, unknown>;

function conditionIn(given: Given): Condition {
  const named = asked.filter((name) => given.has(name));
  if (named.length > 1)
    throw usageError(`cannot take ${named.map((name) => `--${name}`).join(' and ')} together: one condition a watch`);
  const ask = named[0] ?? 'exists';
  const text = given.text(ask) ?? '';
  switch (ask) {
    case 'contains':
      if (text === '') throw usageError('cannot take --contains "": every file has that; give the text to look for');
      return { ask, text };
    case 'matches':
      return { ask, pattern: parsePattern(text, '--matches') };
    case 'min-size':
      return { ask, bytes: given.size('min-size') };
    case 'stable':
      return { ask, ms: given.duration('stable') };
    case 'sha256':
      if (!/^[0-9a-f]{64}$/i.test(text))
        throw usageError(`cannot take --sha256 ${JSON.stringify(text)}: a digest has 64 characters of 0-9 and a-f`);
      return { ask, digest: text.toLowerCase() };
    default:
      return { ask };
  }
}

function textOf({ ask, text, pattern, bytes, ms, digest }: Condition): string {
  switch (ask) {
    case 'contains':
      return `contains ${JSON.stringify(text)}`;
    case 'matches':
      return `matches /${pattern}/`;
    case 'min-size':
      return `at least ${formatSize(Number(bytes))}`;
    case 'stable':
      return `unchanged for ${formatDuration(Number(ms))}`;
    case 'sha256':
      return `has the digest ${String(digest).slice(0, 12)}...`;
    default:
      return ask;
  }
}

function lookAt(
  input: Input,
  target: string,
  facts: TargetFacts | undefined,
  tools: Tools,
  cursor: Cursor,
): Look | Promise<Look | Trouble | Fault> {
  const ask = input.ask as Asked;
  const is = `${target} is there (${sizeText(facts)})`;
  const missing = `${target} is not there`;
  const more = { facts: sizeFacts(facts) };
  if (ask === 'gone') return facts ? seen('pending', 'exists', is, more) : seen('met', 'gone', missing);
  if (ask === 'changed') return lookForChange(target, facts, cursor);
  if (!facts) return seen('pending', 'missing', missing);
  switch (ask) {
    case 'contains':
      return lookForText(target, String(input.text), facts, tools, cursor);
    case 'matches':
      return lookForPattern(target, String(input.pattern), facts, tools, cursor);
    case 'stable':
      return lookForStable(target, Number(input.ms), facts, tools, cursor);
    case 'sha256':
      return lookForDigest(target, String(input.digest), facts, tools, cursor);
    case 'min-size': {
      const isMet = facts.size >= Number(input.bytes);
      const [size, wanted] = [sizeText(facts), formatSize(Number(input.bytes))];
      const evidence = `${target} has ${size}${isMet ? ', at least' : ' of'} ${wanted}`;
      return seen(isMet ? 'met' : 'pending', isMet ? 'large' : 'small', evidence, more);
    }
    default:
      return seen('met', 'exists', is, more);
  }
}

/** The key is what the file is, so that each change is news once. */
function lookForChange(target: string, facts: TargetFacts | undefined, cursor: Cursor): Look {
  const is = signOf(facts);
  const was = typeof cursor.was === 'string' ? cursor.was : is;
  const more = { facts: sizeFacts(facts), cursor: { was: is }, key: is };
  if (was === is) return seen('pending', 'unchanged', `${target} is unchanged (${sizeText(facts)})`, more);
  if (was === 'missing') return seen('met', 'appeared', `${target} appeared (${sizeText(facts)})`, more);
  if (is === 'missing') return seen('met', 'gone', `${target} is gone`, more);
  return seen('met', 'changed', `${target} changed (${sizeText(facts)})`, more);
}
