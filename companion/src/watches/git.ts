// A reference of a git repository on this machine. git runs through platform/git-tool.ts, which lets nothing run that the repository
// can define and reaches no network: what others pushed is seen when somebody has fetched it.
import path from 'node:path';
import { FaultError, usageError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import type { Given } from '../core/option-table.ts';
import { monotonicMs } from '../platform/clock.ts';
import { isFolder, realPath } from '../platform/folders.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { type Git, openGit } from '../platform/git-tool.ts';
import { onPathChange } from '../platform/watch-path.ts';
import { findTool } from '../platform/which.ts';
import { seen } from './local.ts';
import type { Cursor, Fault, Input, Look, Trouble, Watch } from './watch.ts';

const asked = ['moves', 'exists', 'contains'] as const;

export const git = {
  id: 'git',
  summary: 'a branch, tag or commit of a local git repository',
  form: 'REF',
  words: { min: 1, max: 1 },
  options: {
    moves: { kind: 'flag', help: 'met when it names another commit than at the launch (the default)' },
    exists: { kind: 'flag', help: 'met when there is such a reference' },
    contains: { kind: 'text', value: 'COMMIT', help: 'met when this commit is in its history' },
    cwd: { kind: 'text', value: 'DIR', help: 'a folder of the repository (default: here)' },
  },
  notes: 'Nothing is fetched: origin/main moves when somebody fetches or pushes here.',
  examples: [
    'watch git main --moves --for 8h',
    'watch git v2.0.0 --exists --for 2d',
    'watch git origin/main --contains 1a2b3c4 --for 1d',
  ],
  isRemote: false,

  read(given, { cwd }) {
    const [ref = ''] = given.words;
    const folder = path.resolve(cwd, given.text('cwd') ?? '.');
    const root = rootOf(folder);
    const repository = open(root, 10_000);
    if ('message' in repository)
      throw new FaultError('preflight', `cannot watch ${ref} in ${folder}: ${repository.message}`);
    const condition = conditionIn(given, ref, repository);
    return { input: { ref, root, ...condition }, words: `git ${ref} in ${root}: ${textOf(condition)}` };
  },

  start(input) {
    if (input.ask !== 'moves') return {};
    const repository = open(String(input.root), 10_000);
    const commit = 'message' in repository ? undefined : commitOf(repository, String(input.ref));
    return typeof commit === 'string' ? { was: commit } : {};
  },

  async look(input, tools, cursor) {
    const repository = open(String(input.root), tools.leftMs());
    return 'message' in repository ? repository : lookAt(input, repository, cursor ?? {});
  },

  early(input, wake) {
    const folder = path.join(String(input.root), '.git');
    if (!isFolder(folder)) return () => undefined;
    const names = ['logs/HEAD', 'packed-refs', 'FETCH_HEAD', `refs/heads/${input.ref}`];
    const stops = names.map((name) => onPathChange(path.join(folder, name), wake));
    return () => {
      for (const stop of stops) stop();
    };
  },
} as const satisfies Watch;

type Condition = { ask: (typeof asked)[number]; commit?: string };

function conditionIn(given: Given, ref: string, repository: Git): Condition {
  if (ref === '' || ref.startsWith('-') || /[\s\0]/.test(ref))
    throw usageError(`cannot watch ${JSON.stringify(ref)}: give the name of a branch, a tag or a commit`);
  const named = asked.filter((name) => given.has(name));
  if (named.length > 1)
    throw usageError(`cannot take ${named.map((name) => `--${name}`).join(' and ')} together: one condition a watch`);
  const ask = named[0] ?? 'moves';
  if (ask === 'exists') return { ask };
  requireCommit(repository, ref, () =>
    usageError(
      `cannot watch ${JSON.stringify(ref)}: there is no such branch, tag or commit in ${repository.folder}`,
      'wait for it to come with --exists',
    ),
  );
  if (ask === 'moves') return { ask };
  const text = given.text('contains') ?? '';
  const none = (): Error =>
    usageError(`cannot take --contains ${JSON.stringify(text)}: there is no such commit in ${repository.folder}`);
  if (text.startsWith('-')) throw none();
  const commit = requireCommit(repository, text, none);
  return { ask, commit };
}

function textOf({ ask, commit }: Condition): string {
  return ask === 'contains' ? `contains ${commit?.slice(0, 12)}` : ask;
}

function lookAt(input: Input, repository: Git, cursor: Cursor): Look | Trouble {
  const ref = String(input.ref);
  const commit = commitOf(repository, ref);
  if (typeof commit === 'object') return commit;
  const missing = `there is no ${ref} in ${repository.folder}`;
  switch (input.ask) {
    case 'exists': {
      if (!commit) return seen('pending', 'missing', missing);
      return seen('met', 'exists', `${ref} is ${shown(repository, commit)}`, { facts: { ref, commit } });
    }
    case 'contains': {
      if (!commit) return seen('pending', 'missing', missing);
      const wanted = String(input.commit);
      const answer = repository.run(['merge-base', '--is-ancestor', wanted, commit]);
      if (!answer.ok && answer.code !== 1)
        return { kind: 'trouble', cause: 'failed', message: answer.reason, retryAfterMs: null };
      const more = { facts: { ref, commit, contains: answer.ok } };
      return answer.ok
        ? seen('met', 'contains', `${ref} (${shown(repository, commit)}) contains ${wanted.slice(0, 12)}`, more)
        : seen('pending', 'not_contained', `${ref} does not contain ${wanted.slice(0, 12)} yet`, more);
    }
    default:
      return lookForMove(repository, ref, commit, cursor);
  }
}

/** The key is the commit, so that each move is news once. */
function lookForMove(repository: Git, ref: string, commit: string | undefined, cursor: Cursor): Look {
  const is = commit ?? 'missing';
  const was = typeof cursor.was === 'string' && /^(?:[0-9a-f]{40,64}|missing)$/.test(cursor.was) ? cursor.was : is;
  const now = commit ? shown(repository, commit) : 'gone';
  const more = { facts: { ref, commit: commit ?? null, was }, cursor: { was: is }, key: is };
  if (was === is) return seen('pending', 'unmoved', `${ref} is still ${now}`, more);
  return seen(
    'met',
    commit ? 'moved' : 'gone',
    `${ref}: ${was === 'missing' ? 'none' : was.slice(0, 8)}..${now}`,
    more,
  );
}

/** Undefined when there is no such commit; what git cannot say is trouble, never "missing". */
function commitOf(repository: Git, ref: string): string | undefined | Trouble {
  const answer = repository.run(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  if (!answer.ok && answer.code === 1) return undefined;
  const text = answer.ok ? answer.bytes.toString('latin1').trim() : '';
  if (/^[0-9a-f]{40,64}$/.test(text)) return text;
  const message = answer.ok ? `git rev-parse said ${text.slice(0, 80)}` : answer.reason;
  return { kind: 'trouble', cause: 'failed', message, retryAfterMs: null };
}

/** At the launch: refused when git cannot say. */
function requireCommit(repository: Git, ref: string, missing: () => Error): string {
  const commit = commitOf(repository, ref);
  if (typeof commit === 'string') return commit;
  throw commit === undefined ? missing() : new FaultError('preflight', `cannot watch ${ref}: ${commit.message}`);
}

/** Short id and subject. */
function shown(repository: Git, commit: string): string {
  const answer = repository.run(['log', '-1', '--format=%s', commit]);
  const subject = answer.ok ? plainText(answer.bytes.toString('utf8')).trim() : '';
  return `${commit.slice(0, 8)}${subject === '' ? '' : ` ${subject}`}`;
}

/** Where git is to look: nothing above that folder is taken. */
function rootOf(folder: string): string {
  if (!isFolder(folder)) return folder;
  const real = realPath(folder);
  return findWorktree(real) ?? real;
}

function open(root: string, timeMs: number): Git | Fault | Trouble {
  if (!isFolder(root)) return { kind: 'fault', cause: 'not_found', message: `the folder ${root} is gone` };
  if (findTool('git') === undefined)
    return { kind: 'fault', cause: 'tool_missing', message: 'git is not installed (no git on PATH)' };
  const opened = openGit(root, { until: monotonicMs() + timeMs });
  if (!('git' in opened)) return { kind: 'trouble', cause: 'failed', message: opened.reason, retryAfterMs: null };
  const answer = opened.git.run(['rev-parse', '--git-dir']);
  if (answer.ok) return opened.git;
  if (answer.code === 128) return { kind: 'fault', cause: 'not_found', message: answer.reason };
  return { kind: 'trouble', cause: 'timeout', message: answer.reason, retryAfterMs: null };
}
