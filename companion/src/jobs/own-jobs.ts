// Jobs that an agent started and that are at work: it may rightly sleep while they do.
import { listActive } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { isGenuine, readKey } from '../store/mac.ts';
import { readSpec } from '../store/records.ts';
import { conditionOf, inspect } from './view.ts';

/** The records lie where the agent may write: one that was not written by this user's launcher counts for nothing. */
export async function jobsAtWork(root: string, owner: string): Promise<number> {
  const key = readKey();
  let count = 0;
  for (const id of listActive(root)) {
    const read = readSpec(jobPaths(root, id));
    if (read.kind !== 'ok' || read.value.owner !== owner || !(await isGenuine(read.value, key))) continue;
    if (['supervised', 'unseen', 'armed'].includes(conditionOf(inspect(root, id)))) count += 1;
  }
  return count;
}
