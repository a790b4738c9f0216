// Did the caller's words arrive as they were? Node decodes argv as UTF-8 and silently changes what is none.
import { readFileSync } from 'node:fs';

/** True when a word holds the replacement character and the system's own copy of the command line is no UTF-8. */
export function hasChangedWords(words: readonly string[]): boolean {
  if (!words.some((word) => word.includes('\ufffd'))) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(readFileSync('/proc/self/cmdline'));
    return false;
  } catch (error) {
    return error instanceof TypeError;
  }
}
