// `status --tree`: which job came from which, one line each. The ancestors of what is shown are shown too, as far as they are there.
import { excerpt } from '../core/excerpt.ts';
import { familyOf, parentOf, type Relative } from '../jobs/family.ts';
import { healthOf } from '../jobs/health-seen.ts';
import { byLife, tryView } from '../jobs/listing.ts';
import { conditionOf, isEnded, type View } from '../jobs/view.ts';
import { cutToWidth } from '../output/width.ts';
import { exists } from '../platform/folders.ts';
import { jobPaths } from '../store/layout.ts';
import { ownerOf, timeOf } from './status-table.ts';
import { whatOf } from './status-what.ts';

export async function treeOf(root: string, shown: View[], width: number): Promise<string> {
  const views = await withAncestors(root, shown);
  return familyOf(views.sort(byLife))
    .map((one) => cutToWidth(lineOf(one), width))
    .join('\n');
}

async function withAncestors(root: string, shown: View[]): Promise<View[]> {
  const views = new Map(shown.map((view) => [view.id, view]));
  const open = [...shown];
  for (let view = open.pop(); view && views.size < shown.length + ancestorsAtMost; view = open.pop()) {
    const parent = parentOf(view);
    if (!parent || views.has(parent.id) || !exists(jobPaths(root, parent.id).folder)) continue;
    for (const found of await tryView(root, parent.id)) {
      views.set(found.id, found);
      open.push(found);
    }
  }
  return [...views.values()];
}

const ancestorsAtMost = 200;

function lineOf(one: Relative): string {
  const { id, view, relation } = one;
  if (!view) return `${branchOf(one)}${id}  (gone)`;
  const isAsked = !isEnded(view.state) && healthOf(view, conditionOf(view)).health === 'attention';
  const how = relation === null || relation === 'started by' ? null : relation;
  const owner = relation === 'started by' || !view.spec?.owner ? null : `owner ${ownerOf(view)}`;
  const facts = [`${view.state.state}${isAsked ? '!' : ''}`, timeOf(view), how, owner, excerpt(whatOf(view), 120)];
  return `${branchOf(one)}${id}  ${facts.filter((fact) => fact !== null && fact !== '').join('  ')}`;
}

/** `|  `- `: deeper than this everything stands on one level. */
function branchOf({ depth, hasMore }: Relative): string {
  if (depth === 0) return '';
  const above = hasMore.slice(0, -1);
  return `${above.map((more) => (more ? '|  ' : '   ')).join('')}${hasMore.at(-1) ? '|- ' : '`- '}`;
}
