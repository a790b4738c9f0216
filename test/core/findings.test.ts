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
];
for (const [answer, reason] of faults) {
  test(`no findings, and why: ${reason.source}`, () => {
    const parsed = parseFindings(answer);
    assert.equal(parsed.kind, 'fault');
    assert.match(parsed.kind === 'fault' ? parsed.reason : '', reason);
  });
}

test('the form that is asked for names every word that is allowed', () => {
  for (const word of ['approve', 'inconclusive', 'critical', 'suggestion', 'line'])
    assert.ok(findingsForm.includes(word), word);
});
