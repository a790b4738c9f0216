// Settings of agy that can widen `restricted`. Permission rules stand in three places: `permissions` of its own settings, grants
// shared with the Antigravity app, and grants per project; headless runs heed them, which of them varies with the version. The
// shapes are documented by users of 1.1.12 to 1.1.27, not by the vendor, and none could be tried here.
import type { Profile } from '../core/job.ts';
import type { PolicyFile } from './backend.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { findRuleFault, type Kinds, parseSettings } from './rules.ts';

export const agySettings: PolicyFile = { file: '.gemini/antigravity-cli/settings.json', findFault };

/** Grants shared with the Antigravity app. */
export const agySharedGrants: PolicyFile = { file: '.gemini/config/config.json', findFault };

/** Each project has a file of its own; which one is that of this folder is not documented. */
export const agyProjectGrants: PolicyFile = { file: '.gemini/config/projects/', findFault };

/** `execute_url`, `mcp`, `unsandboxed` and `write_file` can change something, as can what a later version adds. */
const kinds: Kinds = { command: 'command', read_file: 'reads', read_url: 'reads' };

/** One function for all of these files, for each shape is plain from its keys. */
export function findFault(text: string, profile: Profile): string | null {
  if (profile !== 'restricted') return null;
  let settings: Fields;
  try {
    settings = parseSettings(text);
  } catch {
    return 'the settings are no JSON object';
  }
  const shared = fieldsOf(settings.userSettings);
  const project = fieldsOf(fieldsOf(settings.permissionGrants).permissionGrants);
  return (
    findModeFault(settings, shared) ??
    findRuleFault(fieldsOf(settings.permissions).allow, kinds, 'permissions.allow') ??
    findRuleFault(fieldsOf(shared.globalPermissionGrants).allow, kinds, 'globalPermissionGrants.allow') ??
    findRuleFault(project.allow, kinds, 'permissionGrants.allow')
  );
}

function findModeFault(settings: Fields, shared: Fields): string | null {
  const { toolPermission = 'request-review' } = settings;
  if (toolPermission !== 'request-review' && toolPermission !== 'strict') {
    return `toolPermission is ${JSON.stringify(toolPermission)}; allowed: "request-review", "strict"`;
  }
  if (/_EAGER$/.test(String(shared.autoExecutionPolicy))) return 'autoExecutionPolicy lets every command run unasked';
  const files = ['policyPaths', 'adminPolicyPaths'].find((name) => !isEmpty(settings[name]));
  return files === undefined ? null : `${files} names more rules, which are not read here`;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
