// Being told that a file changed, where the system can tell. Only a hint: whoever uses it also looks by itself now and then.
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';

/** Call `onChange` once at the next change of one of the files. Returns a stop function. */
export function onNextChange(files: readonly string[], onChange: () => void): () => void {
  const watchers: FSWatcher[] = [];
  const stop = (): void => {
    for (const watcher of watchers.splice(0)) watcher.close();
  };
  const fire = (): void => {
    if (watchers.length === 0) return;
    stop();
    onChange();
  };
  for (const file of files) {
    try {
      const watcher = watch(file, { persistent: false });
      watchers.push(watcher);
      watcher.on('change', fire).on('error', stop);
    } catch {
      // No such file yet, or no watches left on this machine: the caller's own look must do.
    }
  }
  return stop;
}

/** Call `onChange` at each change of one path, also when it appears or goes. Returns a stop function. */
export function onPathChange(target: string, onChange: () => void): () => void {
  const watchers: FSWatcher[] = [];
  const name = path.basename(target);
  // The folder tells of a file that comes, goes or is replaced; the file itself of what a link leads to.
  for (const [place, isFolder] of [
    [path.dirname(target), true],
    [target, false],
  ] as const) {
    try {
      const watcher = watch(place, { persistent: false }, (_event, changed) => {
        if (!isFolder || changed === null || changed === name) onChange();
      });
      watchers.push(watcher);
      watcher.on('error', () => watcher.close());
    } catch {
      // As above.
    }
  }
  return () => {
    for (const watcher of watchers.splice(0)) watcher.close();
  };
}

/**
 * Call `onChange` at each change of the file, or of what lies in the folder, that is there now. Returns a stop function; undefined when the
 * system cannot tell (no such file yet, no watches left on this machine). `onLost`: it can tell no longer.
 */
export function onEachChange(
  target: string,
  onChange: () => void,
  onLost: () => void = () => undefined,
): (() => void) | undefined {
  let watcher: FSWatcher | undefined;
  const stop = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    watcher = watch(target, { persistent: false });
  } catch {
    return undefined;
  }
  watcher.on('change', onChange).on('error', () => {
    stop();
    onLost();
  });
  return stop;
}
