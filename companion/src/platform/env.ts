// The only place that reads the environment. Also the rule which variables workers and children get:
// workers start without NODE_OPTIONS (it is for the caller's programs) and without NODE_EXTRA_CA_CERTS (Node 20 loses 85 ms
// to it per start); both travel under other names and are handed back to the child.
import path from 'node:path';

const env = process.env;
const carried: Record<string, string> = {
  NODE_OPTIONS: 'JOB_COMPANION_NODE_OPTIONS',
  NODE_EXTRA_CA_CERTS: 'JOB_COMPANION_EXTRA_CA_CERTS',
};
/** The random word by which every process of a job is found again. */
export const markVariable = 'JOB_COMPANION_MARK';
/** `worker`: the shim's guard spares it. `probe`: of the job, but no part of its command. */
export const roleVariable = 'JOB_COMPANION_ROLE';

/** Where this job hands things back; never that of the job that started it. */
export const handbackVariable = 'JOB_HANDBACK';

export type Environment = Record<string, string>;

export const variables = {
  stateDir: (): string | undefined => env.JOB_STATE_DIR || undefined,
  owner: (): string | undefined => env.JOB_OWNER || undefined,
  searchPath: (): string => env.PATH ?? '',
  home: (): string | undefined => env.HOME || undefined,
  /** Where these agent CLIs keep their own settings, when it is not below HOME. */
  claudeFolder: (): string | undefined => absoluteOf(env.CLAUDE_CONFIG_DIR),
  codexFolder: (): string | undefined => absoluteOf(env.CODEX_HOME),
  /** What GitHub's CLI takes a repository and a host from, where none are named. */
  githubRepository: (): string | undefined => env.GH_REPO || undefined,
  githubHost: (): string | undefined => env.GH_HOST || undefined,
  /** A terminal that cannot move its cursor. */
  isDumb: (): boolean => env.TERM === 'dumb',
  noColor: (): boolean => Boolean(env.NO_COLOR) || env.TERM === 'dumb',
  /** Is it there and not empty? Says nothing of its value. */
  isSet: (name: string): boolean => Boolean(env[name]),
  /** What a caller named as the source of a secret. Used at once, never recorded. */
  secret: (name: string): string | undefined => env[name] || undefined,
  /** The file of certificates that this process was started without; undefined where Node read it by itself. */
  extraCaFile: (): string | undefined => {
    const file = env.NODE_EXTRA_CA_CERTS ? undefined : env[carried.NODE_EXTRA_CA_CERTS ?? ''];
    return file ? path.resolve(env.PWD ?? '', file) : undefined;
  },
};

/** The user's own folder for this program: `$XDG_CONFIG_HOME/job-companion`, else `~/.config/job-companion`. */
export function configFolder(): string | undefined {
  if (env.XDG_CONFIG_HOME && path.isAbsolute(env.XDG_CONFIG_HOME))
    return path.join(env.XDG_CONFIG_HOME, 'job-companion');
  return env.HOME ? path.join(env.HOME, '.config', 'job-companion') : undefined;
}

/** The user's own place for what may be lost: `$XDG_CACHE_HOME/job-companion`, else `~/.cache/job-companion`. */
export function cacheFolder(): string | undefined {
  if (env.XDG_CACHE_HOME && path.isAbsolute(env.XDG_CACHE_HOME)) return path.join(env.XDG_CACHE_HOME, 'job-companion');
  return env.HOME && path.isAbsolute(env.HOME) ? path.join(env.HOME, '.cache', 'job-companion') : undefined;
}

/** The user's own place for what must stay: `$XDG_STATE_HOME/job-companion`, else `~/.local/state/job-companion`. */
export function dataFolder(): string | undefined {
  if (env.XDG_STATE_HOME && path.isAbsolute(env.XDG_STATE_HOME)) return path.join(env.XDG_STATE_HOME, 'job-companion');
  return env.HOME && path.isAbsolute(env.HOME) ? path.join(env.HOME, '.local', 'state', 'job-companion') : undefined;
}

/** The environment as it came, for a question to one of the caller's own programs. */
export function callerEnvironment(): Environment {
  return definedOnly(env);
}

/** What small helper programs of ours get: no mark, because they are no part of the job. */
export function toolEnvironment(): Environment {
  return { PATH: env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };
}

/** What a worker is started with: the caller's environment, and the mark of its own job. */
export function workerEnvironment(mark: string): Environment {
  const result = definedOnly(env);
  for (const [name, alias] of Object.entries(carried)) {
    // A worker that starts another one (of a job beside it in a queue) has them under the other name already.
    const value = result[name] ?? (env[roleVariable] === 'worker' ? result[alias] : undefined);
    delete result[alias];
    delete result[name];
    if (value !== undefined) result[alias] = value;
  }
  return { ...result, [markVariable]: mark, [roleVariable]: 'worker' };
}

/**
 * No job's mark, and yet one: what carries another mark than a job's own is never taken for its tree, also below its worker (a process
 * without any would be).
 */
const apartMark = 'apart';

/** For a process of ours that tells of a job and is no part of one; the rest as for a worker. */
export function apartEnvironment(): Environment {
  const { [roleVariable]: _role, ...rest } = workerEnvironment(apartMark);
  return rest;
}

/** What a notifier gets, from a worker or a reader: the caller's environment, no job's mark, and which job it is about. */
export function notifierEnvironment(id: string): Environment {
  const result = definedOnly(env);
  for (const [name, alias] of Object.entries(carried)) {
    const value = result[alias];
    delete result[alias];
    if (value !== undefined) result[name] = value;
  }
  for (const name of ['OLDPWD', roleVariable]) delete result[name];
  return { ...result, JOB_ID: id, [markVariable]: apartMark };
}

/** What a worker gives to its child: the caller's environment again, the job's own words, never the caller's state folder. */
export function childEnvironment(own: {
  id: string;
  cwd: string;
  mark: string;
  add: Environment;
  remove: readonly string[];
}): Environment {
  const result = definedOnly(env);
  for (const [name, alias] of Object.entries(carried)) {
    const value = result[alias];
    delete result[alias];
    if (value !== undefined) result[name] = value;
  }
  for (const name of [...own.remove, 'JOB_STATE_DIR', handbackVariable, 'OLDPWD', roleVariable]) delete result[name];
  return { ...result, ...own.add, PWD: own.cwd, JOB_ID: own.id, JOB_OWNER: own.id, [markVariable]: own.mark };
}

/** What a probe (or a status command) gets: what the command got, and the word that tells the two apart. */
export function probeEnvironment(own: { id: string; cwd: string; mark: string }): Environment {
  return childEnvironment({ ...own, add: { [roleVariable]: 'probe' }, remove: [] });
}

/** The caller's environment as sorted `NAME=value` lines without what changes from call to call, for a keyed digest. */
export function comparableEnvironment(): string {
  const passing = new Set([
    '_',
    'PWD',
    'OLDPWD',
    'SHLVL',
    'JOB_ID',
    'JOB_OWNER',
    'JOB_STATE_DIR',
    handbackVariable,
    markVariable,
    roleVariable,
    'COLUMNS',
    'LINES',
  ]);
  const given = definedOnly(env);
  for (const [name, alias] of Object.entries(carried)) {
    const value = given[alias];
    delete given[alias];
    if (value !== undefined) given[name] = value;
  }
  const names = Object.keys(given).filter((name) => !passing.has(name));
  return names
    .sort()
    .map((name) => `${name}=${given[name]}`)
    .join('\0');
}

const credentialName = /(?:^|_)(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|ACCESS_KEY(?:_ID)?)$/i;

/** Names of the variables that look like credentials (or are `known` as such) and reach the child. Values are never recorded. */
export function credentialNames(known: readonly string[] = []): string[] {
  return Object.keys(env)
    .filter((name) => credentialName.test(name) || known.includes(name))
    .sort();
}

/** Names that a POSIX shell cannot carry: these variables do not reach the child (docs/assumptions.md). */
export function uncarriableNames(): string[] {
  return Object.keys(env)
    .filter((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    .sort();
}

function absoluteOf(folder: string | undefined): string | undefined {
  return folder && path.isAbsolute(folder) ? folder : undefined;
}

function definedOnly(source: NodeJS.ProcessEnv): Environment {
  const result: Environment = {};
  for (const [name, value] of Object.entries(source)) if (value !== undefined) result[name] = value;
  return result;
}
