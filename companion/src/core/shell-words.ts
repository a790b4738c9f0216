// Command lines that a POSIX shell reads back as exactly these words. Every next command that we print goes through here.

const plain = /^[A-Za-z0-9_@%+:,./=-]+$/;

export function quoteWord(word: string): string {
  if (plain.test(word)) return word;
  return inQuotes(word);
}

function inQuotes(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export function quoteWords(words: readonly string[]): string {
  // As the first word `x=1` would be an assignment.
  return words.map((word, index) => (index === 0 && word.includes('=') ? inQuotes(word) : quoteWord(word))).join(' ');
}
