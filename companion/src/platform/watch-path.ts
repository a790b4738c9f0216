// Being told that a file changed, where the system can tell. Only a hint: whoever uses it also looks by itself now and then.
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { isFolder } from './folders.ts';

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

/** A folder in which so much happens is not listened to any longer: hearing of it costs more than looking. */
const mostEvents = 1000;

/**
 * Call `onChange` at changes of one path, also when it appears or goes. Of a folder these are the names in it. A hint as above, and for a
 * while only: whoever wants more calls again. Returns a stop function.
 */
export function onPathChange(target: string, onChange: () => void): () => void {
  const watchers: FSWatcher[] = [];
  const name = path.basename(target);
  let events = 0;
  const stop = (): void => {
    for (const watcher of watchers.splice(0)) watcher.close();
  };
  const listen = (place: string, isMeant: (changed: string | null) => boolean): void => {
    try {
      const watcher = watch(place, { persistent: false }, (_event, changed) => {
        events += 1;
        if (isMeant(changed)) onChange();
        if (events > mostEvents) stop();
      });
      watchers.push(watcher);
      watcher.on('error', () => watcher.close());
    } catch {
      // As above.
    }
  };
  listen(target, () => true);
  // The folder above tells of what comes, goes or is replaced; a folder that is there tells of its own end.
  if (!isFolder(target)) listen(path.dirname(target), (changed) => changed === null || changed === name);
  return stop;
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
