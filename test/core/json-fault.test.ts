// The place at which a text stops being JSON, and nothing of its content.
import assert from 'node:assert/strict';
import test from 'node:test';
import { jsonFault } from '../../companion/src/core/json-fault.ts';

const faults: [text: string, words: RegExp][] = [
  ['', /^Unexpected end of JSON input \(line 1, column 1\)$/],
  ['{\n  "a": [1, 2\n', /\(line 3, column 1\)$/],
  ['{\n  "key": {\n    "argv": ["x"],}\n}', /^Expected [^\n]* \(line 3, column 19\)$/],
  ['backends: {}', /^Unexpected token 'b' \(line 1, column 1\)$/],
  ['{"a": 1,\n "b": tru}', /^Unexpected token '}' \(line 2, column 10\)$/],
  [`{"a": "secret",\n ${' '.repeat(300)}"b": #}`, /^Unexpected token '#' \(line 2, column 307\)$/],
  ["{'a': 1}", /^Expected [^\n]* \(line 1, column 2\)$/],
  ['// words\n{}', /^Unexpected token '\/' \(line 1, column 1\)$/],
  ['{"a": 1} secret', /\(line 1, column 10\)$/],
];
for (const [text, words] of faults) {
  test(`the fault of ${JSON.stringify(text.slice(0, 30))} has its place`, () => {
    const told = jsonFault(text) ?? '';
    assert.match(told, words);
    assert.doesNotMatch(told, /secret|key/);
  });
}

test('JSON has none', () => {
  for (const text of ['{}', ' [1, "x"]\n', 'null']) assert.equal(jsonFault(text), null);
});
