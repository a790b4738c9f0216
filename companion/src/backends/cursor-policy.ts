// Settings of cursor-agent that can widen `restricted`: rules that allow tools unasked, and a mode that asks for nothing. Whether
// --mode ask heeds them is not documented, so they are faults. From its documentation; it could not be run here.
import type { Profile } from '../core/job.ts';
import type { PolicyFile } from './backend.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { findRuleFault, type Kinds, parseSettings } from './rules.ts';

export const cursorSettings: PolicyFile = { file: '.cursor/cli-config.json', findFault };

/** A repository's own rules. */
export const cursorProjectSettings: PolicyFile = { file: '.cursor/cli.json', inWorkspace: true, findFault };

/** `Mcp` and `Write` can change something. `Shell(ls)` names the program, whatever its arguments are. */
const kinds: Kinds = { Read: 'reads', Shell: 'command', WebFetch: 'reads' };

function findFault(text: string, profile: Profile): string | null {
  if (profile !== 'restricted') return null;
  let settings: Fields;
  try {
    settings = parseSettings(text);
  } catch {
    return 'the settings are no JSON object';
  }
  const { approvalMode = 'allowlist' } = settings;
  if (approvalMode !== 'allowlist') return `approvalMode is ${JSON.stringify(approvalMode)}; allowed: "allowlist"`;
  return findRuleFault(fieldsOf(settings.permissions).allow, kinds, 'permissions.allow');
}
