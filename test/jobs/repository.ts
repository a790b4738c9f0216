/**
 * Real repositories for the tests of workspaces: what an agent did between two looks, with the machine's own git settings shut out.
 */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { compareWorkspace } from '../../companion/src/jobs/workspace/compare.ts';
import { captureWorkspace } from '../../companion/src/jobs/workspace/snapshot.ts';
import type { WorkspaceChanges, WorkspaceSnapshot } from '../../companion/src/jobs/workspace/types.ts';
import { makeWorkspace, type Workspace, type WorkspaceOptions } from '../helpers/workspace.ts';

export interface Repository extends Workspace {
  remove(name: string): void;
  move(from: string, to: string): void;
  link(name: string, target: string): void;
  mode(name: string, mode: number): void;
  /** Names as bytes. */
  writeBytes(name: Buffer, content: string): void;
  commit(message: string): void;
  capture(folder?: string): WorkspaceSnapshot;
}

/** Two files `a.txt` and `sub/b.txt` are committed beside README.md. */
export function makeRepository(t: TestContext, options: WorkspaceOptions = {}): Repository {
  const workspace = makeWorkspace(t, options);
  shutOut(t, workspace);
  const { path } = workspace;
  const repository: Repository = {
    ...workspace,
    remove: (name) => rmSync(path(name), { recursive: true }),
    move(from, to) {
      mkdirSync(dirname(path(to)), { recursive: true });
      renameSync(path(from), path(to));
    },
    link: (name, target) => symlinkSync(target, path(name)),
    mode: (name, mode) => chmodSync(path(name), mode),
    writeBytes: (name, content) => writeFileSync(Buffer.concat([Buffer.from(`${workspace.dir}/`), name]), content),
    commit(message) {
      workspace.git('add', '-A');
      workspace.git('commit', '-q', '-m', message);
    },
    capture: (folder = workspace.dir) => {
      const snapshot = captureWorkspace(folder, { exclude: [join(workspace.dir, '.job-state')] });
      // As it comes back from the disk.
      return JSON.parse(JSON.stringify(snapshot));
    },
  };
  workspace.write('a.txt', 'one\n');
  workspace.write('sub/b.txt', 'two\n');
  if (options.git !== false) repository.commit('Files');
  return repository;
}

/** What changed while `act` did something. */
export function changesOf(repository: Repository, act: (repository: Repository) => void): WorkspaceChanges {
  const before = repository.capture();
  act(repository);
  return compareWorkspace(before, repository.capture());
}

/** `added new.txt`, `renamed a.txt -> c.txt, dirty, committed`. */
export function told({ files }: WorkspaceChanges): string[] {
  return files.map(({ path, change, from, was_dirty, committed }) =>
    [
      `${change} ${from === undefined ? '' : `${from} -> `}${path}`,
      ...(was_dirty ? ['dirty'] : []),
      ...(committed ? ['committed'] : []),
    ].join(', '),
  );
}

/** This process is what asks git: it gets the home of the workspace and no settings of the machine. */
function shutOut(t: TestContext, { env }: Workspace): void {
  const kept = { HOME: process.env.HOME, XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME };
  process.env.HOME = env.HOME;
  process.env.XDG_CONFIG_HOME = env.XDG_CONFIG_HOME;
  t.after(() => {
    for (const [name, value] of Object.entries(kept)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}
