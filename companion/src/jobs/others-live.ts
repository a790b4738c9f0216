// How many live jobs are other people's: for whoever asked for the jobs of one owner and found none. The name may be misspelt.
import { excerpt, plainText } from '../core/excerpt.ts';
import { exists } from '../platform/folders.ts';
import { listActive } from '../store/catalog.ts';
import { jobPaths } from '../store/layout.ts';
import { readSpec, readState } from '../store/records.ts';
import { isEnded } from './view.ts';

/** `nothing is live of owner bulider; 3 live jobs belong to others: alice, -`; null where there are none. */
export function othersLive(root: string, owner: string | null): string | null {
  if (owner === null) return null;
  const owners: string[] = [];
  for (const id of listActive(root)) {
    const paths = jobPaths(root, id);
    if (!exists(paths.folder)) continue;
    const spec = readSpec(paths);
    const state = readState(paths);
    if (spec.kind !== 'ok' || (state.kind === 'ok' && isEnded(state.value))) continue;
    // Perhaps one that the caller left out.
    if (spec.value.owner === owner) return null;
    owners.push(spec.value.owner ?? '-');
  }
  if (owners.length === 0) return null;
  const names = [...new Set(owners)];
  const shown = names.slice(0, 3).map(word);
  if (names.length > shown.length) shown.push(`and ${names.length - shown.length} more`);
  const number = owners.length === 1 ? '1 live job belongs' : `${owners.length} live jobs belong`;
  return `nothing is live of owner ${word(owner)}; ${number} to others: ${shown.join(', ')}`;
}

function word(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' '), 40);
}
