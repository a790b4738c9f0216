// Runs git as a tool of ours, so that nothing a repository can define is ever executed: no hooks, no fsmonitor, no filters, no
// external diff or textconv, no pager, no network (a partial clone would fetch, and a remote may name a program). Repository-local
// variables of the caller never reach it. It takes no lock that it can do without. Synchronous: every call has a time limit, all
// calls together can have one, the output is bounded. A call costs about 2 ms.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { errnoOf } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { monotonicMs } from './clock.ts';
import { configFolder, type Environment, toolEnvironment, variables } from './env.ts';
import { isExecutable, isFolder } from './folders.ts';

/**
 * The variables that bind git to one repository (`git rev-parse --local-env-vars` of git 2.39, and of newer and older ones).
 * A child that works somewhere else must not inherit them.
 */
export const repositoryVariables = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_CONFIG',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_COUNT',
  'GIT_OBJECT_DIRECTORY',
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_GRAFT_FILE',
  'GIT_INDEX_FILE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
  'GIT_PREFIX',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_SHALLOW_FILE',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_REF_STORAGE_FORMAT',
  'GIT_REFERENCE_BACKEND',
] as const;

/** `bytes` is stdout. `reason` is one plain sentence without a full stop. */
export type GitAnswer =
  | { ok: true; bytes: Buffer }
  /** `cut`: the limit that was reached. */
  | { ok: false; code: number | null; reason: string; cut?: 'time' | 'output' };

export interface GitCall {
  input?: string;
  /** Of wall time, ms (default 10,000). */
  timeoutMs?: number;
  /** Of stdout, bytes (default 32 MiB). */
  limit?: number;
}

export interface GitTerms {
  /** No call goes on beyond this time of the monotonic clock. */
  until?: number;
  /** Further folders that a call may lead to: what the configuration names there (it can depend on the place) is switched off too. */
  also?: readonly string[];
}

export interface Git {
  /** Where it runs; no repository above this folder is taken. */
  folder: string;
  run(args: readonly string[], call?: GitCall): GitAnswer;
  /** The last value of one of the few settings that were read (names in lower case). */
  setting(name: string): string | undefined;
}

/** What a repository's configuration may hold that would start a program, and what we must know of it. */
const wanted = '^(filter\\..*|hook\\..*|core\\.worktree|core\\.bare|extensions\\.objectformat)$';
const tooMany = 200;
const always = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.quotepath=off',
  'diff.orderFile=/dev/null',
  'diff.submodule=short',
  'diff.ignoreSubmodules=dirty',
  'log.showSignature=false',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

/** Of the commands that show differences: no program of the configuration, and no git started in a submodule (with its filters). */
const quiet = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'];
/** Never into a submodule: it would start a git there, with the filters of that repository. */
const shallow = ['--ignore-submodules=dirty'];
const showing = new Set(['diff', 'show', 'log', 'diff-tree', 'diff-index', 'diff-files']);

/** Get git ready for one folder: reads which programs its configuration names, and switches each of them off. */
export function openGit(folder: string, { until, also = [] }: GitTerms = {}): { git: Git } | { reason: string } {
  const program = findGit();
  if (program === undefined) return { reason: 'git is not installed (no git on PATH)' };
  const found: [string, string][][] = [];
  for (const place of [folder, ...also]) {
    if (!isFolder(place)) return { reason: `the folder ${place} is gone` };
    const read = runGit(program, place, always, ['config', '-z', '--get-regexp', wanted], { until });
    // 1: none of them is set.
    if (!read.ok && read.code !== 1) return { reason: read.reason };
    found.push(parseSettings(read.ok ? read.bytes : Buffer.alloc(0)));
  }
  const [settings = []] = found;
  const off = switchedOff(found.flat().map(([name]) => name));
  if (off === undefined) return { reason: 'its configuration names filters or hooks that cannot be switched off' };
  const config = [...always, ...off];
  return {
    git: {
      folder,
      run: (args, call = {}) => runGit(program, folder, config, args, { ...call, until }),
      setting: (name) => settings.findLast(([found]) => found === name)?.[1],
    },
  };
}

/** From absolute folders of PATH only: a relative one would lead into the repository. */
function findGit(): string | undefined {
  return absoluteSearchPath()
    .map((folder) => path.join(folder, 'git'))
    .find(isExecutable);
}

function absoluteSearchPath(): string[] {
  return variables
    .searchPath()
    .split(':')
    .filter((folder) => path.isAbsolute(folder));
}

function parseSettings(bytes: Buffer): [string, string][] {
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((item) => item !== '')
    .map((item) => {
      const end = item.indexOf('\n');
      return end < 0 ? [item, ''] : [item.slice(0, end), item.slice(end + 1)];
    });
}

/** Settings that turn each filter and each configured hook (git 2.54) into nothing; undefined when that cannot be said. */
function switchedOff(names: string[]): string[] | undefined {
  const drivers = new Set(names.filter((name) => /^(?:filter|hook)\./.test(name)).map(withoutVariable));
  // `-c` ends the name at the first `=`, and a name that is no UTF-8 would arrive as another one.
  if (drivers.size > tooMany || [...drivers].some((name) => /[=\n\ufffd]/.test(name))) return undefined;
  return [...drivers].flatMap((name) =>
    name.startsWith('hook.')
      ? [`${name}.enabled=false`]
      : [`${name}.clean=`, `${name}.smudge=`, `${name}.process=`, `${name}.required=false`],
  );
}

function withoutVariable(name: string): string {
  return name.slice(0, name.lastIndexOf('.'));
}

function runGit(
  program: string,
  folder: string,
  config: string[],
  args: readonly string[],
  call: GitCall & { until: number | undefined },
): GitAnswer {
  const limit = call.limit ?? 32 * 1024 * 1024;
  const left = (call.until ?? Number.POSITIVE_INFINITY) - monotonicMs();
  const timeout = Math.ceil(Math.min(call.timeoutMs ?? 10_000, left));
  const settings = config.flatMap((setting) => ['-c', setting]);
  const [verb = '', ...words] = args;
  if (timeout <= 0) return { ok: false, code: null, reason: `there was no time left for git ${verb}`, cut: 'time' };
  const safe = showing.has(verb) ? [verb, ...quiet, ...words] : verb === 'status' ? [verb, ...shallow, ...words] : args;
  // The one command that takes no patterns refuses to be told so.
  const literal = verb === 'check-ignore' ? [] : ['--literal-pathspecs'];
  const done = spawnSync(program, ['--no-pager', ...literal, ...settings, ...safe], {
    cwd: folder,
    env: gitEnvironment(folder),
    input: call.input ?? '',
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: limit,
  });
  const name = `git ${verb}`;
  const fault = errnoOf(done.error);
  const seconds = Math.ceil(timeout / 100) / 10;
  if (fault === 'ETIMEDOUT')
    return { ok: false, code: null, reason: `${name} took longer than ${seconds} s`, cut: 'time' };
  if (fault === 'ENOBUFS')
    return { ok: false, code: null, reason: `${name} wrote more than ${limit} bytes`, cut: 'output' };
  if (done.error) return { ok: false, code: null, reason: `${name} cannot be started (${fault ?? 'error'})` };
  if (done.status === 0) return { ok: true, bytes: done.stdout };
  const [first = ''] = plainText(done.stderr.toString('utf8')).trim().split('\n');
  const ending = done.status === null ? `was ended by ${done.signal}` : `ended with ${done.status}`;
  return { ok: false, code: done.status, reason: `${name} ${ending}${first === '' ? '' : `: ${first.slice(0, 200)}`}` };
}

function gitEnvironment(folder: string): Environment {
  const home = variables.home();
  const ours = configFolder();
  return {
    ...toolEnvironment(),
    PATH: absoluteSearchPath().join(':'),
    ...(home === undefined ? {} : { HOME: home }),
    ...(ours === undefined ? {} : { XDG_CONFIG_HOME: path.dirname(ours) }),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_NO_LAZY_FETCH: '1',
    // Objects as they are stored: a replacement of the old commit would hide what changed since.
    GIT_NO_REPLACE_OBJECTS: '1',
    // Unlike `protocol.allow` it cannot be widened by the repository.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_CEILING_DIRECTORIES: path.dirname(folder),
  };
}
