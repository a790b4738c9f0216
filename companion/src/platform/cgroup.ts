// A cgroup (version 2) of the job's own, where this system lets us make one: the kernel then knows every descendant, whatever it
// did to its session, parents and environment. Everywhere else there is none, and nothing depends on it.
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { errnoOf } from '../core/errors.ts';
import { exists, listNames } from './folders.ts';

const prefix = 'job-companion-';

/** Make a cgroup below the one that we are in. Null where that is not possible. */
export function makeCgroup(id: string): string | null {
  const own = ownCgroup();
  if (own === undefined) return null;
  const folder = path.join(own, `${prefix}${id}`);
  try {
    mkdirSync(folder);
    return folder;
  } catch (error) {
    // A worker that died before it could tell has made it.
    return errnoOf(error) === 'EEXIST' ? folder : null;
  }
}

/** The cgroup of a job whose record does not name one: below ours, if it is there. */
export function findCgroup(id: string): string | null {
  const own = ownCgroup();
  const folder = own === undefined ? null : path.join(own, `${prefix}${id}`);
  return folder !== null && exists(folder) ? folder : null;
}

/** The pids in a job's cgroup and below it, but not in cgroups of other jobs. Empty for anything that is no cgroup of this job. */
export function listCgroup(folder: string | null, id: string): number[] {
  if (folder === null || path.basename(folder) !== `${prefix}${id}` || !isBelowMount(folder)) return [];
  return pidsIn(folder);
}

/** Remove it once it is empty; and an outer job's that was only kept by ours. */
export function removeCgroup(folder: string | null, id: string): void {
  if (folder === null || path.basename(folder) !== `${prefix}${id}` || !isBelowMount(folder)) return;
  try {
    removeEmpty(folder);
    if (path.basename(path.dirname(folder)).startsWith(prefix)) rmdirSync(path.dirname(folder));
  } catch {
    // Not empty (kept children, an outer job that still runs) or gone.
  }
}

function removeEmpty(folder: string): void {
  for (const name of listNames(folder)) if (!name.includes('.')) removeEmpty(path.join(folder, name));
  rmdirSync(folder);
}

function pidsIn(folder: string): number[] {
  const text = readOrEmpty(path.join(folder, 'cgroup.procs'));
  const own = text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1);
  // Files of a cgroup have a dot in their names, cgroups below it that somebody made mostly have none.
  const inner = listNames(folder).filter(
    (name) => !name.startsWith(prefix) && !/^(?:cgroup|cpu|memory|io|pids|cpuset|hugetlb|rdma|misc)\./.test(name),
  );
  return [...own, ...inner.flatMap((name) => pidsIn(path.join(folder, name)))];
}

function ownCgroup(): string | undefined {
  const mount = mountPoint();
  const line = readOrEmpty('/proc/self/cgroup')
    .split('\n')
    .find((one) => one.startsWith('0::'));
  return mount === undefined || line === undefined ? undefined : path.join(mount, line.slice(3));
}

function mountPoint(): string | undefined {
  const line = readOrEmpty('/proc/self/mounts')
    .split('\n')
    .find((one) => one.split(' ')[2] === 'cgroup2');
  return line?.split(' ')[1];
}

function isBelowMount(folder: string): boolean {
  const mount = mountPoint();
  return mount !== undefined && path.resolve(folder) === folder && folder.startsWith(`${mount}/`);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
