// From a program's name to the file that would be started, as a shell would find it.
import path from 'node:path';
import { variables } from './env.ts';
import { isExecutable } from './folders.ts';

/** The absolute path of the program, or undefined. Names with a slash count from `cwd`, others are searched on PATH. */
export function findProgram(name: string, cwd: string): string | undefined {
  if (name.includes('/')) {
    const file = path.resolve(cwd, name);
    return isExecutable(file) ? file : undefined;
  }
  for (const folder of variables.searchPath().split(':')) {
    const file = path.resolve(cwd, folder || '.', name);
    if (isExecutable(file)) return file;
  }
  return undefined;
}

/** As a program of ours is found: in absolute folders of PATH only, because a relative one would lead into the repository. */
export function findTool(name: string): string | undefined {
  const folders = variables.searchPath().split(':');
  return folders
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find(isExecutable);
}
