// Command lines that a POSIX shell reads back as exactly these words. Every next command that we print goes through here.

const plain = /^[A-Za-z0-9_@%+:,./=-]+$/;

export function quoteWord(word: string): string {
  if (plain.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}
