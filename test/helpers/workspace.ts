/**
 * A temporary world for one test: `dir` (a real git repository with one commit, or a plain folder), a home beside it, and
 * an environment that holds nothing of the machine but the way to its programs. Everything started with that
 * environment carries the workspace's marker. When the test ends, deferred clean-ups run (last first), then every
 * process of the workspace must be gone (see leaks.ts), then the folder is removed. A left-over process fails the test.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { endLeaks, FOLDER_PREFIX, MARKER } from './leaks.ts';
import { testNode } from './test-node.ts';

export interface Workspace {
  /** Holds `dir` and `home`, and is the place for anything that must lie outside the repository. */
  readonly base: string;
  readonly dir: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  /** An absolute path below `dir`. */
  path(...parts: string[]): string;
  write(name: string, content: string | Uint8Array): string;
  read(name: string): string;
  git(...args: string[]): string;
  /** Runs before the leak check, whether the test passed or not; the last deferred one first. */
  defer(cleanUp: () => unknown): void;
}

export interface WorkspaceOptions {
  /** false: a plain folder that lies in no repository. */
  git?: boolean;
  /** How long left-over processes may take to go by themselves. */
  leakLimitMs?: number;
}

export function makeWorkspace(t: TestContext, { git = true, leakLimitMs = 5_000 }: WorkspaceOptions = {}): Workspace {
  // The runner's own marker comes first in both names, so that it finds what a test that was cut off has left.
  const ofFile = process.env[MARKER] ?? 'alone';
  const marker = `${ofFile}.${randomBytes(6).toString('hex')}`;
  const base = realpathSync(mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${ofFile}-`)));
  const dir = join(base, 'work');
  const home = join(base, 'home');
  mkdirSync(dir);
  mkdirSync(join(home, '.config'), { recursive: true });
  const env = makeEnvironment(home, marker);
  const cleanUps: (() => unknown)[] = [];

  t.after(async () => {
    const problems: unknown[] = [];
    for (const cleanUp of cleanUps.splice(0).reverse()) {
      try {
        await cleanUp();
      } catch (error) {
        problems.push(error);
      }
    }
    const leaks = await endLeaks({ marker, folder: base }, leakLimitMs);
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
    if (leaks.length > 0) {
      const message = `the test left ${leaks.length} process(es) behind, killed now: ${leaks.join('; ')}`;
      // node:test forgets errors of this hook when the test has failed already.
      console.error(`${t.name}: ${message}`);
      problems.push(new Error(message));
    }
    if (problems.length === 1) throw problems[0];
    if (problems.length > 1) throw new AggregateError(problems, problems.map(String).join('\n'));
  });

  const workspace: Workspace = {
    base,
    dir,
    home,
    env,
    marker,
    path: (...parts) => join(dir, ...parts),
    write(name, content) {
      const path = join(dir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    read: (name) => readFileSync(join(dir, name), 'utf8'),
    git: (...args) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' }),
    defer: (cleanUp) => void cleanUps.push(cleanUp),
  };
  if (git) makeRepository(workspace);
  return workspace;
}

function makeRepository({ git, write }: Workspace): void {
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@localhost');
  write('README.md', '# A project\n');
  git('add', 'README.md');
  git('commit', '-q', '-m', 'Start');
}

function makeEnvironment(home: string, marker: string): Record<string, string> {
  // npm puts the project's own programs on the PATH, which no user has there. The tested Node comes first.
  const machine = (process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(':');
  const path = [dirname(testNode()), ...machine.filter((folder) => !folder.includes('node_modules'))];
  return {
    PATH: [...new Set(path)].join(':'),
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    LANG: 'C.UTF-8',
    [MARKER]: marker,
  };
}
