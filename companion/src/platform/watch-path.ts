// Being told that a file changed, where the system can tell. Only a hint: whoever uses it also looks by itself now and then.
import { type FSWatcher, watch } from 'node:fs';

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
