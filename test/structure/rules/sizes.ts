/**
 * How long source files may be: 250 lines each, and a median of 100. A file that needs more has two subjects.
 */
import { isCode, type Source } from './source.ts';

export const LONGEST = 250;
export const MEDIAN = 100;

export function judgeSizes(files: Source[]): string[] {
  const faults = files.flatMap((file) => {
    const lines = countLines(file);
    return lines > LONGEST ? [`${file.path}: ${lines} lines, at most ${LONGEST}`] : [];
  });
  const lengths = files
    .filter(isCode)
    .map(countLines)
    .sort((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  return median > MEDIAN ? [...faults, `the median file has ${median} lines, at most ${MEDIAN}`] : faults;
}

function countLines({ text }: Source): number {
  return text.trimEnd().split('\n').length;
}
