// E4: everything is committed, and what was added since the last checkpoint has no task marker and no debug code (S3.46). Only added lines count:
// what stood there before is nobody's fault now.
import { type AddedLine, addedLines, uncommitted } from '../git.ts';
import { type Check, fail, pass, skipped } from './check.ts';

const markers = /(?<![A-Za-z0-9_])(TODO|FIXME|HACK)(?![A-Za-z0-9_])/;
const debug: readonly [name: string, pattern: RegExp][] = [
  ['breakpoint()', /(?<![\w.])breakpoint\(\)/],
  ['import pdb', /^\s*import pdb\b/],
  ['pdb.set_trace', /\bpdb\.set_trace\b/],
  ['console.log', /\bconsole\.log\b/],
  ['debugger', /^\s*debugger\s*;?\s*$/],
  ['print of DEBUG', /\bprint\s*\(.*DEBUG/],
  ['logger.debug', /\blogger\.debug\b/],
];
/** Words about code are no code. */
const prose = /\.(?:md|txt|rst|adoc)$/i;

export const clean: Check = {
  id: 'E4',
  title: 'tree clean',

  run({ state, place, git }) {
    if (!state) return skipped('the state cannot be read');
    if ('reason' in git)
      return place.isGit
        ? fail('E4', [{ owner: 'human', what: `git cannot be asked: ${git.reason}` }])
        : pass(git.reason);
    const open = uncommitted(place, git.git);
    if ('reason' in open) return fail('E4', [{ owner: 'human', what: open.reason }]);
    const added = addedLines(place, git.git, state.boundary);
    if ('reason' in added) return fail('E4', [{ owner: 'human', what: added.reason }]);
    const faults = [...open.files.map((file) => `${file} is not committed`), ...markedLines(added.lines)];
    if (faults.length > 0)
      return fail(
        'E4',
        faults.map((what) => ({ owner: 'developer', what })),
      );
    return pass(
      'nothing uncommitted',
      added.isPartial
        ? `the last boundary ${state.boundary?.slice(0, 12)} is not known here (a shallow clone?): only what is not committed was looked at`
        : `${added.lines.length} lines added since ${state.boundary?.slice(0, 12) ?? 'the beginning'}, none with a marker or debug code`,
    );
  },
};

/** Task markers and debug code on added lines, each with its place. */
export function markedLines(lines: readonly AddedLine[]): string[] {
  return lines.flatMap(({ file, line, text }) =>
    faultsOf(file, text).map((what) => `${file}:${line} has ${what}: ${text.trim()}`),
  );
}

function faultsOf(file: string, text: string): string[] {
  const marker = markers.exec(text)?.[1];
  const found = prose.test(file) ? [] : debug.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
  return [...(marker === undefined ? [] : [marker]), ...found];
}
