/**
 * Small files, one subject each: the limits of rules/sizes.ts on the real sources, and shown to refuse what is too long.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { judgeSizes, LONGEST, MEDIAN } from './rules/sizes.ts';
import { makeSource, readSources } from './rules/source.ts';

const ofLength = (path: string, lines: number) => makeSource(path, 'x();\n'.repeat(lines));

test('no source file is too long, and half of them are short', () => {
  assert.deepEqual(judgeSizes(readSources()), []);
});

test('the size rule refuses one line too many in one file', () => {
  const planted = [ofLength('core/a.ts', LONGEST + 1), ofLength('core/b.ts', LONGEST), ofLength('core/c.ts', 1)];
  assert.deepEqual(judgeSizes([...planted, ofLength('core/d.ts', 1), ofLength('core/e.ts', 1)]), [
    'core/a.ts: 251 lines, at most 250',
  ]);
});

test('the size rule counts shell files too', () => {
  assert.deepEqual(judgeSizes([ofLength('worker/shim.sh', 300)]), ['worker/shim.sh: 300 lines, at most 250']);
});

test('the size rule refuses a median that is one line too high', () => {
  const planted = [ofLength('core/a.ts', 1), ofLength('core/b.ts', MEDIAN + 1), ofLength('core/c.ts', 200)];
  assert.deepEqual(judgeSizes(planted), ['the median file has 101 lines, at most 100']);
});
