// Rules for agy's settings with which a restricted run can look around: headless, agy refuses every tool that would have to ask, and its
// newer versions list folders by a command only. Reading below one folder, and commands that write no file whatever their
// arguments (`git diff` and `git log` can: --output). They count for every run of agy, so they are added only when asked for.
import { parseSettings } from './rules.ts';

const commands = ['ls', 'cat', 'grep', 'git status', 'git ls-files'];

/**
 * The settings with what is missing of these rules, every other setting as it is. `text` null: there are none yet. `folder` is absolute.
 * Throws an Error that says why when the text has another form than expected.
 */
export function addReadRules(text: string | null, folder: string): { text: string; added: string[] } {
  if (/[()*?[\]{}\n]/.test(folder)) throw new Error(`the folder ${JSON.stringify(folder)} cannot stand in a rule`);
  const settings = text === null ? {} : parse(text);
  const permissions = settings.permissions ?? {};
  if (typeof permissions !== 'object' || Array.isArray(permissions)) throw new Error('its "permissions" is no object');
  const { allow = [] } = permissions as { allow?: unknown };
  if (!Array.isArray(allow)) throw new Error('its "permissions.allow" is no list');
  const wanted = [`read_file(${folder})`, ...commands.map((command) => `command(${command})`)];
  const added = wanted.filter((rule) => !allow.includes(rule));
  const changed = { ...settings, permissions: { ...permissions, allow: [...allow, ...added] } };
  const indent = /^\s*\{\r?\n([ \t]+)"/.exec(text ?? '')?.[1] ?? 2;
  return { text: `${JSON.stringify(changed, null, indent)}\n`, added };
}

function parse(text: string): Record<string, unknown> {
  try {
    return parseSettings(text);
  } catch {
    throw new Error('it is no JSON object');
  }
}
