// What `setup --hooks` prints: the hooks as they stand, the file and the exact change, who is told by which event, and the way back. Nothing
// of backends: somebody who turns a hook on wants to see what happens to the settings.
import { hookWhom } from '../core/hooks.ts';
import { nextCommand } from '../jobs/next-commands.ts';
import { wrap } from '../output/wrap.ts';
import { editsText, hooksText } from './setup-edits.ts';
import type { SetupResult } from './setup-page.ts';

/** `isOn`: they were asked for, not `none`. `option`: words that name the state folder. */
export function hooksPage(
  { edits, isApplied, hooks, trial }: SetupResult,
  { isOn, option }: { isOn: boolean; option: readonly string[] },
): string {
  const isAsOfNow = edits.length > 0 && !isApplied;
  const parts = [hooksText(hooks, isAsOfNow), editsText(edits, isApplied)];
  if (trial) parts.push(`Tried once: ${trial.problem ?? 'the hook answers'}.`);
  if (isOn)
    parts.push(
      wrap(hookWhom, 80).join('\n'),
      `To turn them off: ${nextCommand(option, 'setup', '--hooks', 'none', '--apply')}`,
    );
  return `${parts.join('\n\n')}\n`;
}
