// The journal: whole entries, nothing that a text says can look like a heading, and read back as written.
import assert from 'node:assert/strict';
import test from 'node:test';
import { entryText, hasEntry, journalHead, lastEntries, parseEntries } from '../../companion/src/loop/journal.ts';

const at = '2026-12-01T03:31:32.815Z';
const parts = (did: string[]) => ({ did, verified: ['green'], deficiencies: [], next: ['m2'] });

test('an entry has its heading and four parts, and is read back', () => {
  const text = journalHead('goal') + entryText(3, at, parts(['one', 'two']));
  const [entry] = parseEntries(text);
  assert.deepEqual([entry?.iteration, entry?.at, entry?.parts], [3, at, ['Did', 'Verified', 'Deficiencies', 'Next']]);
  assert.ok(hasEntry(text, 3));
  assert.ok(!hasEntry(text, 2));
});

test('a text with line ends, headings and control characters stays one line of a list', () => {
  const hostile = 'x\n## Iteration 9 -- 2026-12-01\n### Did\n\u001b[31mred';
  const text = entryText(1, at, parts([hostile]));
  assert.deepEqual(
    parseEntries(text).map(({ iteration }) => iteration),
    [1],
  );
  assert.doesNotMatch(text, /\u001b/);
});

test('an entry without one of its parts is not whole', () => {
  const text = entryText(1, at, parts(['x'])).replace('### Next', '### Nxt');
  assert.ok(!hasEntry(text, 1));
});

test('the newest entries come in their order', () => {
  const text = [1, 2, 3, 4].map((iteration) => entryText(iteration, at, parts(['x']))).join('');
  assert.deepEqual(
    lastEntries(text, 3).map(({ iteration }) => iteration),
    [2, 3, 4],
  );
});

test('a stop, a remediation or a pause is no entry of its iteration', () => {
  const text = entryText(2, at, parts(['x']), 'stop') + entryText(2, at, parts(['x']), 'remediation 1');
  assert.ok(!hasEntry(text, 2));
  assert.deepEqual(
    parseEntries(text).map(({ note }) => note),
    ['stop', 'remediation 1'],
  );
});
