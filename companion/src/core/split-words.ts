// One text to words, as a shell splits it, and nothing else that a shell does: quotes and backslashes count, `$x`, `~` and `*` stay what
// they are. Pure.

/** What a shell would take as its own. Nobody here would, so a caller who writes one expects too much. */
const operators = /^(?:\d*(?:>>?|<)|&&?|\|\|?|;|\d*>&\d+|&>)$/;

/** Words, or why the text cannot be split. */
export function splitWords(text: string): { words: string[] } | { fault: string } {
  const words: string[] = [];
  let word: string | null = null;
  let isPlain = true;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at <= text.length; at += 1) {
    const sign = text[at];
    if (sign === undefined && quote !== null) return { fault: `the quote ${quote} is not closed` };
    if (quote === null && (sign === undefined || /[ \t\n\r]/.test(sign))) {
      if (word !== null && isPlain && operators.test(word))
        return { fault: `no shell reads it, and ${word} means something only to a shell (sh -c '...' starts one)` };
      if (word !== null) words.push(word);
      [word, isPlain] = [null, true];
      continue;
    }
    if (sign === quote) {
      quote = null;
      continue;
    }
    if (quote === null && (sign === '"' || sign === "'")) {
      [quote, word, isPlain] = [sign, word ?? '', false];
      continue;
    }
    const next = text[at + 1];
    // Inside double quotes a backslash counts only before these.
    if (sign === '\\' && (quote === null || (quote === '"' && /["\\$`\n]/.test(next ?? '')))) {
      if (next === undefined) return { fault: 'it ends with a backslash' };
      word = `${word ?? ''}${next === '\n' ? '' : next}`;
      isPlain = false;
      at += 1;
      continue;
    }
    word = `${word ?? ''}${sign}`;
  }
  return { words };
}
