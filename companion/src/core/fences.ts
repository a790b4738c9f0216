// Fenced blocks of Markdown, line by line. Pure.

export interface Fence {
  mark: string;
  length: number;
  /** What stands behind the marks; empty for a line that may close a block. */
  info: string;
}

/** The fence that a line is, wherever it is indented. */
export function fenceOf(line: string): Fence | undefined {
  const text = line.trim();
  const [mark = ''] = text;
  if (mark !== '`' && mark !== '~') return undefined;
  let length = 0;
  while (text[length] === mark) length += 1;
  return length < 3 ? undefined : { mark, length, info: text.slice(length).trim() };
}

/** Does a line that is `fence` close what `open` began? */
export function closes(fence: Fence, open: Fence): boolean {
  return fence.info === '' && fence.mark === open.mark && fence.length >= open.length;
}

/** Every line with where it begins and where the next one does; without its line end. */
export function* linesOf(text: string): Generator<{ line: string; from: number; next: number }> {
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const end = newline < 0 ? text.length : newline;
    yield { line: text.slice(from, end), from, next: end + 1 };
    from = end + 1;
  }
}
