// `--notify CMD`: what it takes, and in which words it refuses the rest.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { parseNotify } from '../../companion/src/core/notify-words.ts';

const sound: [text: string, words: string[]][] = [
  ['tell me', ['tell', 'me']],
  [`tell "me too" '$x'`, ['tell', 'me too', '$x']],
  ['["tell", "me too", "", "\\u00e9"]', ['tell', 'me too', '', '\u00e9']],
  ['  ["tell"]  ', ['tell']],
];
for (const [text, words] of sound)
  test(`${text} is ${words.length} words`, () => assert.deepEqual(parseNotify(text), words));

for (const text of ['', '  ', '""', '[]', '[""]', '["a"', '[1]', '["a", null]', '["a\\u0000b"]', `'a`, 'a | b']) {
  test(`${JSON.stringify(text)} is refused with what is allowed`, () => {
    assert.throws(
      () => parseNotify(text),
      (error: unknown) =>
        error instanceof FaultError &&
        error.code === 'usage' &&
        /^cannot take --notify .*allowed: words/.test(error.message),
    );
  });
}
