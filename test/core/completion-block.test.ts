// The completion block of an answer is read in the form that is asked for, or it is said exactly why it cannot be.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Claims, claimsForm } from '../../companion/src/core/claims.ts';
import { parseClaims } from '../../companion/src/core/completion-block.ts';

const block = {
  schema: 'pi-completion/v1',
  status: 'done',
  summary: 'It works.',
  commands: [{ command: 'npm test', exitCode: 0, note: 'all' }],
  tests: [{ name: 'unit', result: 'pass', note: null }],
  commits: [{ sha: 'abcdef1234', repo: '/work/repo', subject: 'Add it' }],
  filesChanged: ['src/a.ts'],
  openIssues: ['one'],
  blockedReason: null,
};
const json = JSON.stringify(block, null, 2);
const fenced = (text: string, info = 'completion', mark = '```') => `${mark}${info}\n${text}\n${mark}\n`;
const other = fenced(JSON.stringify({ ...block, summary: 'An older one.' }));

const readable: [name: string, answer: string][] = [
  ['a completion block', fenced(json)],
  ['prose around it', `I did it.\n\n${fenced(json)}\nThat is all.\n`],
  ['the last of two blocks', `${other}\nand now\n${fenced(json)}`],
  ['a json block that names the schema', fenced(json, 'json')],
  ['other json blocks after it', `${fenced(json)}\n${fenced('{"schema": "mine/v1"}', 'json')}${fenced('[1]', 'json')}`],
  ['carriage returns', fenced(json).replaceAll('\n', '\r\n')],
  ['a longer fence', fenced(json, 'completion', '`````')],
  ['tildes', fenced(json, 'completion', '~~~')],
  ['a list item', fenced(json).replaceAll(/^/gm, '   ')],
  ['a block before which another was not closed', `\`\`\`sh\nmake\n${fenced(json)}`],
  ['an output whose beginning is cut off in a block', `make\n\`\`\`\nand\n${fenced(json)}`],
  ['an example that is quoted after it', `${fenced(json)}\n\`\`\`\`md\n${other}\`\`\`\`\n`],
  ['a block after one that was not closed', `\`\`\`completion\n{"half":\n${fenced(json)}`],
];
for (const [name, answer] of readable) {
  test(`claims are read from ${name}`, () => {
    assert.deepEqual(parseClaims(answer), { kind: 'ok', claims: block });
  });
}

const parsed = (fields: object): Claims => {
  const found = parseClaims(fenced(JSON.stringify({ schema: block.schema, status: 'done', summary: 's', ...fields })));
  assert.ok(found.kind === 'ok', JSON.stringify(found));
  return found.claims;
};

test('lists, notes, repo and subject may be missing or null, and what is not in the form is left out', () => {
  const short = parsed({ extra: { deep: [1] }, tests: null, commits: [{ sha: 'ABCDEF1', hash: 1 }] });
  assert.deepEqual(short, {
    ...{ schema: block.schema, status: 'done', summary: 's', commands: [], tests: [], filesChanged: [] },
    ...{ commits: [{ sha: 'abcdef1', repo: null, subject: null }], openIssues: [], blockedReason: null },
  });
});

test('keys of the prototype and control characters do nothing', () => {
  const text = `{"__proto__": {"status": "done"}, "constructor": 1, "toString": null, "schema": "pi-completion/v1", "status": "partial",
    "summary": "red \\u001b[31mtext\\u0007\\u202e", "commits": [{"sha": "abcdef1", "__proto__": {"repo": "/x"}}]}`;
  const found = parseClaims(fenced(text));
  assert.ok(found.kind === 'ok');
  assert.deepEqual([found.claims.summary, found.claims.status], ['red text', 'partial']);
  assert.deepEqual(found.claims.commits, [{ sha: 'abcdef1', repo: null, subject: null }]);
  assert.equal(({} as Record<string, unknown>).status, undefined);
});

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const withField = (name: string, value: unknown) => fenced(JSON.stringify({ ...block, [name]: value }));
const faults: [name: string, answer: string, code: string, path: string | null, message: RegExp][] = [
  ['nothing', '', 'NO_BLOCK', null, /holds no completion block/],
  ['prose', 'All done.', 'NO_BLOCK', null, /holds no completion block/],
  ['the words of the brief', claimsForm, 'NO_BLOCK', null, /holds no completion block/],
  ['a json block of another schema', fenced('{"schema": "mine/v1"}', 'json'), 'NO_BLOCK', null, /no completion block/],
  ['a quoted example only', `\`\`\`\`md\n${other}\`\`\`\`\n`, 'NO_BLOCK', null, /no completion block/],
  ['a bare object', json, 'NO_BLOCK', null, /no completion block/],
  ['a block that is not closed', `\`\`\`completion\n${json}\n`, 'UNCLOSED_FENCE', null, /not closed/],
  ['a json block that is not closed', `\`\`\`json\n${json}\n`, 'UNCLOSED_FENCE', null, /not closed/],
  ['a whole block before one that is not closed', `${other}\`\`\`completion\n{`, 'UNCLOSED_FENCE', null, /not closed/],
  ['a block of 65 KiB', withField('summary', 'x'.repeat(65 * 1024)), 'OVERSIZED_BLOCK', null, /bytes; at most 65536/],
  ['half an object', fenced('{"schema": "pi-completion/v1",'), 'MALFORMED_JSON', null, /line 1, column/],
  ['an empty block', fenced(''), 'MALFORMED_JSON', null, /does not parse/],
  ['brackets without end', fenced('['.repeat(60_000)), 'MALFORMED_JSON', null, /does not parse/],
  ['a control character', fenced('{"a": \u001b]0;x\u0007}'), 'MALFORMED_JSON', null, /^[^\u001b\u0007]*$/],
  ['a list', fenced('[]'), 'SCHEMA_VIOLATION', '', /a list; allowed: an object/],
  ['deep lists', fenced(nested(20_000)), 'SCHEMA_VIOLATION', '', /a list; allowed: an object/],
  ['no schema', withField('schema', undefined), 'SCHEMA_VIOLATION', 'schema', /missing; allowed: pi-completion\/v1/],
  ['a later schema', withField('schema', 'pi-completion/v2'), 'SCHEMA_VIOLATION', 'schema', /"pi-completion\/v2"/],
  ['another status', withField('status', 'finished'), 'SCHEMA_VIOLATION', 'status', /allowed: done, blocked, partial/],
  ['no summary', withField('summary', undefined), 'SCHEMA_VIOLATION', 'summary', /missing; allowed: a text/],
  ['an empty summary', withField('summary', ' \u0007 '), 'SCHEMA_VIOLATION', 'summary', /it is empty/],
  ['a long summary', withField('summary', 'x'.repeat(10_001)), 'SCHEMA_VIOLATION', 'summary', /10001 characters/],
  ['blocked without a reason', withField('status', 'blocked'), 'SCHEMA_VIOLATION', 'blockedReason', /allowed: a text/],
  ['commits of one object', withField('commits', {}), 'SCHEMA_VIOLATION', 'commits', /an object; allowed: a list/],
  ['101 commits', withField('commits', Array(101).fill({ sha: 'a' })), 'SCHEMA_VIOLATION', 'commits', /101 entries/],
  [
    'a sha that is an option',
    withField('commits', [block.commits[0], { sha: '--all' }]),
    'SCHEMA_VIOLATION',
    'commits[1].sha',
    /hex/,
  ],
  [
    'a relative repo',
    withField('commits', [{ sha: 'abcdef1', repo: 'x' }]),
    'SCHEMA_VIOLATION',
    'commits[0].repo',
    /absolute/,
  ],
  [
    'a deep subject',
    fenced(json.replace('"Add it"', nested(9_000))),
    'SCHEMA_VIOLATION',
    'commits[0].subject',
    /a list/,
  ],
  [
    'an absolute file',
    withField('filesChanged', ['a', '/etc/passwd']),
    'SCHEMA_VIOLATION',
    'filesChanged[1]',
    /relative/,
  ],
  ['a file outside', withField('filesChanged', ['a/../../b']), 'SCHEMA_VIOLATION', 'filesChanged[0]', /without \.\./],
  ['an empty file', withField('filesChanged', ['']), 'SCHEMA_VIOLATION', 'filesChanged[0]', /relative path/],
  ['NUL in a file', withField('filesChanged', ['a\0b']), 'SCHEMA_VIOLATION', 'filesChanged[0]', /relative path/],
  [
    'another result',
    withField('tests', [{ name: 'u', result: 'ok' }]),
    'SCHEMA_VIOLATION',
    'tests[0].result',
    /pass, fail, skip/,
  ],
  [
    'an exit code in words',
    withField('commands', [{ command: 'x', exitCode: '0' }]),
    'SCHEMA_VIOLATION',
    'commands[0].exitCode',
    /whole number/,
  ],
  ['an issue that is no text', withField('openIssues', [7]), 'SCHEMA_VIOLATION', 'openIssues[0]', /7; allowed: a text/],
];
for (const [name, answer, code, fieldPath, message] of faults) {
  test(`claims are refused with ${code}: ${name}`, () => {
    const found = parseClaims(answer);
    assert.ok(found.kind === 'fault', JSON.stringify(found).slice(0, 300));
    assert.deepEqual([found.error.code, found.error.fieldPath], [code, fieldPath]);
    assert.match(found.error.message, message);
    assert.ok(found.error.message.length < 400);
  });
}

test('an answer of many fences takes time in proportion to its length', () => {
  const many = '```completion\n{\n'.repeat(100_000);
  assert.equal(parseClaims(many).kind, 'fault');
  assert.equal(parseClaims(`${'~~~json\n{"schema":"pi-completion/v1"\n'.repeat(50_000)}~~~\n`).kind, 'fault');
});
