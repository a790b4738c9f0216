// Where the user's own config lies, and whether a word stands in it: reading its form (config.ts) costs a start some ms, so a launch that
// needs only one field of it looks here first.
import path from 'node:path';
import { configFolder } from '../platform/env.ts';
import { readText } from '../platform/files.ts';

export function userConfigFile(): string | undefined {
  const folder = configFolder();
  return folder === undefined ? undefined : path.join(folder, 'config.json');
}

/** Could the config have this field? Also true for one that cannot be read: whoever reads it whole says why. */
export function mayMention(field: string): boolean {
  const file = userConfigFile();
  try {
    return file !== undefined && (readText(file) ?? '').includes(`"${field}"`);
  } catch {
    return true;
  }
}
