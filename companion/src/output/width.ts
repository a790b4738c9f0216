// How many columns of a terminal a text takes: letters of East Asia and emoji take two, marks that are set over others none. Good enough to
// keep a line from wrapping, which is all that it is for.

export function widthOf(text: string): number {
  if (isPlain.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += columnsOf(char);
  return width;
}

/** One column each. */
const isPlain = /^[\x20-\x7e]*$/;

/** The beginning of a line that fits; an ellipsis stands for the rest. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const char of text) {
    width += columnsOf(char);
    if (width > columns - 1) break;
    kept += char;
  }
  return `${kept}\u2026`;
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

function columnsOf(char: string): number {
  if (char < '\u0300') return 1;
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(char)) return 0;
  return wide.test(char) ? 2 : 1;
}
