// Structured findings are read out of an answer, or it is said why they cannot be.
import assert from 'node:assert/strict';
import test from 'node:test';
import { findingsForm, parseFindings } from '../../companion/src/core/findings.ts';

const one = { severity: 'high', title: 'Lost update', detail: 'Two writers.', file: 'a.ts', line: 3, suggestion: null };
const whole = { verdict: 'changes_requested', summary: 'One bug.', findings: [one] };
const json = JSON.stringify(whole, null, 2);

const readable: [name: string, answer: string][] = [
  ['the bare object', json],
  ['a json block after prose', `Here it is:\n\n\`\`\`json\n${json}\n\`\`\`\n`],
  ['a block without a language', `\`\`\`\n${json}\n\`\`\``],
  ['a block of four backticks that quotes three', `\`\`\`\`json\n${json}\n\`\`\`\`\n`],
  ['carriage returns', `\`\`\`json\r\n${json.replaceAll('\n', '\r\n')}\r\n\`\`\`\r\n`],
  ['the last of two blocks', `\`\`\`json\n{"old": true}\n\`\`\`\nand\n\`\`\`json\n${json}\n\`\`\``],
  ['prose before a bare object', `I looked at it all.\n${JSON.stringify(whole)}`],
  ['a json block after one of another language', `\`\`\`sh\nmake\n\`\`\`\n\n\`\`\`json\n${json}\n\`\`\`\n`],
  ['a json block before one that is no JSON', `\`\`\`json\n${json}\n\`\`\`\n{a}\n\`\`\`\n{b}`],
  ['a json block inside a longer fence', `\`\`\`\`md\n\`\`\`json\n${json}\n\`\`\`\n\`\`\`\``],
  ['a block that nobody closed', `\`\`\`json\n${json}`],
];
for (const [name, answer] of readable) {
  test(`findings are read from ${name}`, () => {
    assert.deepEqual(parseFindings(answer), { kind: 'ok', value: whole });
  });
}

test('file, line and suggestion may be missing', () => {
  const short = { severity: 'info', title: 't', detail: 'd' };
  const parsed = parseFindings(JSON.stringify({ ...whole, findings: [short] }));
  assert.deepEqual(parsed.kind === 'ok' && parsed.value.findings, [
    { ...short, file: null, line: null, suggestion: null },
  ]);
});

const faults: [answer: string, reason: RegExp][] = [
  ['Everything is fine.', /holds no JSON object/],
  ['', /holds no JSON object/],
  ['{"verdict": "approve",', /does not parse/],
  ['```json\n[1]\n```', /holds no JSON object/],
  ['{"verdict": "LGTM"}', /verdict is "LGTM"; allowed: approve/],
  ['{"verdict": "approve"}', /summary is no text/],
  ['{"verdict": "approve", "summary": "s"}', /findings is no list/],
  [JSON.stringify({ ...whole, findings: [{ ...one, severity: 'urgent' }] }), /findings\[0\]: severity is "urgent"/],
  [JSON.stringify({ ...whole, findings: [one, { ...one, line: 0 }] }), /findings\[1\]: line is 0/],
  [JSON.stringify({ ...whole, findings: [null] }), /findings\[0\]: no object/],
  [JSON.stringify({ ...whole, findings: Array(501).fill(one) }), /501 findings; at most 500/],
  [JSON.stringify({ ...whole, summary: 'x'.repeat(10_001) }), /summary has 10001 characters; at most 10000/],
  ...(
    [
      ['title', 500],
      ['detail', 10_000],
      ['suggestion', 10_000],
      ['file', 4_096],
    ] as const
  ).map(([name, most]): [string, RegExp] => [
    JSON.stringify({ ...whole, findings: [one, { ...one, [name]: 'x'.repeat(most + 1) }] }),
    new RegExp(`findings\\[1\\]: ${name} has ${most + 1} characters; at most ${most}`),
  ]),
  [`\`\`\`json\n{"summary": "${'x'.repeat(1024 * 1024)}"}\n\`\`\``, /the findings have 1048591 bytes; at most 1048576/],
];
for (const [answer, reason] of faults) {
  test(`no findings, and why: ${reason.source}`, () => {
    const parsed = parseFindings(answer);
    assert.equal(parsed.kind, 'fault');
    assert.match(parsed.kind === 'fault' ? parsed.reason : '', reason);
  });
}

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const hostile: [answer: string, reason: RegExp][] = [
  [`{"verdict": ${deep}}`, /verdict is a list; allowed: approve/],
  [`{"verdict": ${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`, /verdict is an object/],
  [`{"verdict": "approve", "summary": "s", "findings": [{"severity": ${deep}}]}`, /severity is a list/],
  [JSON.stringify({ ...whole, findings: [{ ...one, line: [1] }] }), /line is a list; allowed/],
  [
    JSON.stringify({ ...whole, verdict: 'x'.repeat(100_000) }),
    /^verdict is "x{60}"\.\.\.; allowed: approve, \w+, \w+$/,
  ],
  [JSON.stringify({ ...whole, verdict: '\x1b]0;t\x07' }), /^verdict is "\\u001b/],
  ['{"verdict": \x1b]0;title\x07', /^its JSON does not parse: [\x20-\x7e]*$/],
];
for (const [answer, reason] of hostile) {
  test(`a hostile answer is a fault like any other, and short: ${reason.source.slice(0, 40)}`, () => {
    const parsed = parseFindings(answer);
    assert.match(parsed.kind === 'fault' ? parsed.reason : '', reason);
    assert.ok(parsed.kind === 'fault' && parsed.reason.length < 400, 'a long reason');
  });
}

// Each of them took minutes once. What is asserted is that they end at all, far below what a quadratic reader would need.
const fences: [name: string, answer: string][] = [
  ['openers without an end', '```json\n{\n'.repeat(100_000)],
  ['a fence, spaces, and a word', `\`\`\`${' '.repeat(1_000_000)}x`],
  ['spaces before no fence', `${' '.repeat(1_000_000)}x`],
  ['one long fence', '`'.repeat(1_000_000)],
  ['fences of growing length', Array.from({ length: 1_400 }, (_, n) => '`'.repeat(n + 3)).join('\n')],
  ['braces', '\n{'.repeat(400_000)],
  ['two kinds of fence', '```\n~~~\n'.repeat(120_000)],
];
for (const [name, answer] of fences) {
  test(`about a megabyte of ${name} is read in time`, () => {
    const started = performance.now();
    assert.equal(parseFindings(answer).kind, 'fault');
    assert.ok(performance.now() - started < 20_000);
  });
}

test('the form that is asked for names every word that is allowed', () => {
  for (const word of ['approve', 'inconclusive', 'critical', 'suggestion', 'line'])
    assert.ok(findingsForm.includes(word), word);
});
