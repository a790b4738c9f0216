// The words of an http watch: what is taken, how it is told, and what is refused before anything is asked.
import assert from 'node:assert/strict';
import test from 'node:test';
import { http } from '../../companion/src/watches/http.ts';
import { readWords } from './tools.ts';

const url = 'https://example.org/x';
const digest = 'Ab'.repeat(32);

test('an address alone waits for any 2xx', () => {
  const { input, words } = readWords(http, [url]);
  assert.equal(input.url, url);
  assert.equal(words, 'http https://example.org/x (status 2xx)');
});

test('all conditions at once are told in one line, and the input is plain JSON', () => {
  const { input, words } = readWords(http, [
    ...['HTTP://Example.org:8080/a/../b?key=secret#part', '--status', '200, 3xx', '--fail-status', '410,5xx'],
    ...[
      '--pending-status',
      '403',
      '--contains',
      'ok',
      '--matches',
      '^v\\d',
      '--field',
      'a.0.b=x=y',
      '--sha256',
      digest,
    ],
    ...['--changed', '--header', 'X-Trace: one: two '],
  ]);
  assert.deepEqual(input, {
    url: 'http://example.org:8080/b?key=secret',
    met: ['200', '3xx'],
    fail: ['410', '5xx'],
    pending: ['403'],
    contains: 'ok',
    matches: '^v\\d',
    field: { keys: ['a', '0', 'b'], value: 'x=y' },
    sha256: digest.toLowerCase(),
    changed: true,
    headers: { fixed: { 'x-trace': 'one: two' }, fromEnvironment: {} },
  });
  assert.deepEqual(JSON.parse(JSON.stringify(input)), input);
  assert.equal(
    words,
    'http http://example.org:8080/b?... (status 200,3xx, contains "ok", matches "^v\\\\d", field a.0.b=x=y, sha256 abababababab, changed)',
  );
});

const refused: [args: string[], told: RegExp][] = [
  [['localhost:8080/x'], /"localhost:8080\/x" does not begin with http:\/\/ or https:\/\//],
  [['file:///etc/passwd'], /does not begin with http/],
  [['ftp://example.org/'], /does not begin with http/],
  [['javascript:alert(1)'], /does not begin with http/],
  [[''], /does not begin with http/],
  [['http://'], /host or port cannot be read/],
  [['http://example.org:99999/'], /host or port cannot be read/],
  [['http://[::1/'], /host or port cannot be read/],
  [[`http://example.org/${'x'.repeat(9000)}`], /longer than 8192/],
  [['https://user:hunter2@example.org/'], /name or password in it.*--header-env/],
  [['https://token@example.org/'], /name or password in it/],
  [[url, '--status', ''], /"" is no status; allowed: 200 to 599, 2xx to 5xx/],
  [[url, '--status', '99'], /"99" is no status/],
  [[url, '--status', '100'], /"100" is no status/],
  [[url, '--status', '200;404'], /no status/],
  [[url, '--status', '6xx'], /no status/],
  [[url, '--status', '2xx', '--fail-status', '204'], /--status with --fail-status: 204 stands in both/],
  [[url, '--fail-status', '5xx', '--pending-status', '503'], /--fail-status with --pending-status: 503 stands in both/],
  [[url, '--contains', ''], /an empty text is in every answer/],
  [[url, '--matches', ''], /empty pattern/],
  [[url, '--matches', '('], /is no regular expression/],
  [[url, '--field', 'novalue'], /names no place/],
  [[url, '--field', '=x'], /names no place/],
  [[url, '--field', 'a..b=x'], /names no place/],
  [[url, '--sha256', 'abc'], /64 hex digits/],
  [[url, '--sha256', 'z'.repeat(64)], /64 hex digits/],
  [[url, '--header', 'nothing'], /names no header that can be sent/],
  [[url, '--header', 'X Y: z'], /names no header that can be sent/],
  [[url, '--header', 'Connection: keep-alive'], /names no header that can be sent/],
  [[url, '--header', 'X: a', '--header', 'x: b'], /given twice/],
  [[url, '--header', 'X-A: a\r\nX-B: b'], /characters that no header can have/],
  [[url, '--header-env', 'X-A=NO_SUCH_VARIABLE_4711'], /the variable NO_SUCH_VARIABLE_4711 is not set/],
  [[url, '--header-env', 'X-A'], /names no header that can be sent/],
  [[], /URL/],
  [[url, url], /./],
];
for (const [args, told] of refused) {
  test(`refused: ${JSON.stringify(args).slice(0, 80)}`, () => {
    assert.throws(() => readWords(http, args), told);
  });
}

for (const header of ['Authorization', 'Cookie', 'X-Api-Key', 'PRIVATE-TOKEN', 'Proxy-Authorization']) {
  test(`a ${header} header is taken from the environment only, and no refusal repeats its value`, () => {
    assert.throws(
      () => readWords(http, [url, '--header', `${header}: hunter2`]),
      (error: Error) => /give --header-env/.test(error.message) && !error.message.includes('hunter2'),
    );
  });
}

test('a refusal of an address with a password does not repeat it', () => {
  assert.throws(
    () => readWords(http, ['https://user:hunter2@example.org/']),
    (error: Error) => !error.message.includes('hunter2'),
  );
});

test('a header from the environment is recorded by its name', (t) => {
  process.env.JC_TEST_SECRET = 'hunter2';
  t.after(() => delete process.env.JC_TEST_SECRET);
  const { input, words } = readWords(http, [url, '--header-env', 'Authorization=JC_TEST_SECRET']);
  assert.deepEqual(input.headers, { fixed: {}, fromEnvironment: { authorization: 'JC_TEST_SECRET' } });
  assert.ok(!JSON.stringify({ input, words }).includes('hunter2'));
});

test('a single look has nothing to compare with', () => {
  assert.throws(() => readWords(http, [url, '--changed'], '/', true), {
    code: 'usage',
    message: /--changed with --once/,
  });
  readWords(http, [url], '/', true);
});
