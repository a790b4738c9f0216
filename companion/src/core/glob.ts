// Names with `*` (any characters) and `?` (one), as a shell takes them: a name that begins with a dot is meant only by a pattern that does.

/** In time of at most pattern times name, whatever both look like. */
export function matchesGlob(pattern: string, text: string): boolean {
  if (text.startsWith('.') && !pattern.startsWith('.')) return false;
  let at = 0;
  let place = 0;
  /** Where to go on when what follows the newest `*` does not fit. */
  let star = -1;
  let mark = 0;
  while (at < text.length) {
    const sign = pattern[place];
    if (sign === '*') {
      star = place;
      mark = at;
      place += 1;
    } else if (sign !== undefined && (sign === '?' || sign === text[at])) {
      place += 1;
      at += 1;
    } else if (star >= 0) {
      mark += 1;
      at = mark;
      place = star + 1;
    } else return false;
  }
  while (pattern[place] === '*') place += 1;
  return place === pattern.length;
}
