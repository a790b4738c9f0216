// Which of two versions is the higher one, by the order of Semantic Versioning 2.0.0 (item 11). For versions that a registry has accepted:
// nothing is checked here, and what follows a + does not count.

/** Below 0: `a` is lower; 0: equal; above 0: `a` is higher. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  const release = compareLists(left.release, right.release);
  if (release !== 0) return release;
  // A version with a pre-release is lower than the one without.
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  return compareLists(left.pre, right.pre);
}

function partsOf(version: string): { release: string[]; pre: string[] } {
  const [, release = '', pre = ''] = /^([^-+]*)(?:-([^+]*))?/.exec(version) ?? [];
  return { release: release.split('.'), pre: pre === '' ? [] : pre.split('.') };
}

/** Part by part; numbers are lower than words; of two lists that begin alike the shorter one is lower. */
function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [left = '', right = ''] = [a[at], b[at]];
    const order = compareParts(left, right);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareParts(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Math.sign(Number(a) - Number(b));
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
