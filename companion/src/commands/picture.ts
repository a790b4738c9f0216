// What a wait that is over before its job prints of it without --json: the page of `status` for a person, a document for everybody else.
import type { View } from '../jobs/view.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context } from './command.ts';
import { pageOf } from './status-page.ts';

export function pictureText(
  { isTerminal }: Pick<Context, 'isTerminal'>,
  view: View,
  root: StateRoot,
  document: Record<string, unknown>,
): string {
  return isTerminal ? pageOf(view, root) : `${JSON.stringify(withoutEmpty(document), null, 1)}\n`;
}

/** Events stay as they are: they are what was told. */
function withoutEmpty(value: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    if (inner === null || (Array.isArray(inner) && inner.length === 0)) return [];
    const isPart = typeof inner === 'object' && !Array.isArray(inner) && name !== 'event';
    return [[name, isPart ? withoutEmpty(inner as Record<string, unknown>) : inner]];
  });
  return Object.fromEntries(kept);
}
