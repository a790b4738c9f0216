// Patterns that callers give (`--matches REGEX`): JavaScript regular expressions in which ^ and $ also mean the ends of a line. Whether
// one compiles is asked at launch; matching is bounded (platform/matching.ts), because some patterns take for ever on some texts.
import { messageOf, usageError } from './errors.ts';

export const patternFlags = 'm';

/** The same text when it can be used as a pattern; else a usage error that names the option. */
export function parsePattern(text: string, option: string): string {
  if (text === '')
    throw usageError(`cannot take ${option}: an empty pattern matches everything; give what to look for`);
  try {
    new RegExp(text, patternFlags);
  } catch (error) {
    const [, why] = /: ([^:]*)$/.exec(messageOf(error)) ?? [];
    throw usageError(
      `cannot take ${option} ${JSON.stringify(text)}: it is no regular expression (${why ?? 'it does not compile'}); allowed is what JavaScript's RegExp takes, without slashes`,
    );
  }
  return text;
}
