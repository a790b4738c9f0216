// May this reader do more than look?
import { isWritable } from '../platform/folders.ts';
import { pidNamespace } from '../platform/identity.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { conditionOf, type View } from './view.ts';

/** Only here, only with our own spec (a changed one could name another job's processes). */
export async function mayAct(view: View): Promise<boolean> {
  if (!view.spec || !isWritable(view.paths.folder)) return false;
  // A timer has no processes that another namespace could hide: its instant is the same everywhere.
  if (view.spec.timer) return isOurs(view);
  const namespace = view.worker?.worker.pid_ns ?? view.launch?.worker.pid_ns ?? view.spec.launcher.pid_ns;
  const isHere = namespace === pidNamespace() || view.isOtherBoot;
  if (!isHere && conditionOf(view) !== 'lost') return false;
  return isOurs(view);
}

/** Did this user's launcher write its spec? */
export async function isOurs({ spec }: View): Promise<boolean> {
  return spec !== null && isGenuine(spec, knownKey());
}

/** Did somebody else write its spec? Without a key that can be read nobody knows; of a timer that counts as a yes: nothing else ends it. */
export async function isForged({ spec }: View): Promise<boolean> {
  const key = knownKey();
  if (!spec || (key === undefined && !spec.timer)) return false;
  return !(await isGenuine(spec, key));
}

/** A config folder that we may not read is no reason to refuse a look at a job. */
function knownKey(): string | undefined {
  try {
    return readKey();
  } catch {
    return undefined;
  }
}
