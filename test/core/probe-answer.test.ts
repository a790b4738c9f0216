// What a probe may say, and what becomes of everything else.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type ProbeEnd, parseProbe, saysFailure } from '../../companion/src/core/probe-answer.ts';

const bounds = { timeoutMs: 30_000, bytes: 65_536 };
const exited: ProbeEnd = { how: 'exited', code: 0, reason: null, stdout: '', stderr: '' };
const say = (stdout: string) => parseProbe({ ...exited, stdout }, bounds);
const whyOf = (end: Partial<ProbeEnd>): string => {
  const answer = parseProbe({ ...exited, ...end }, bounds);
  assert.equal(answer.kind, 'trouble', JSON.stringify(answer));
  return answer.kind === 'trouble' ? answer.why : '';
};

test('one JSON object with every field is read, also over several lines', () => {
  const text = '{"status":"running","phase":"train",\n "completed":3,"total":10,"eta_seconds":7.4,"message":"fine"}\n';
  assert.deepEqual(say(text), {
    kind: 'ok',
    status: 'running',
    phase: 'train',
    completed: 3,
    total: 10,
    etaSeconds: 7,
    message: 'fine',
  });
});

test('every field is optional, null is none, and unknown ones beside known ones are left alone', () => {
  const none = { kind: 'ok', status: null, phase: null, completed: null, total: null, etaSeconds: null, message: null };
  for (const text of ['{}', '{"phase":null,"completed":null}', '{"phase":"","status":" "}'])
    assert.deepEqual(say(text), none, text);
  assert.deepEqual(say('{"completed":3,"more":[1,{"a":2}]}'), { ...none, completed: 3 });
});

for (const [stdout, why] of [
  ['', /^the probe printed nothing$/],
  [' \n', /printed nothing/],
  ['garbage', /^the probe printed no single JSON object: /],
  ['{"completed":1}{"completed":2}', /no single JSON object/],
  ['{"completed":1}\n{"completed":2}\n', /no single JSON object/],
  ['{"completed":', /no single JSON object/],
  ['[1]', /JSON that is no object/],
  ['3', /JSON that is no object/],
  ['null', /JSON that is no object/],
  ['"x"', /JSON that is no object/],
  ['{"completed":"3"}', /^the probe printed completed as something that is no number$/],
  ['{"completed":NaN}', /no single JSON object/],
  ['{"completed":1e999}', /completed as a number that is too large/],
  ['{"completed":-1}', /completed as a negative number/],
  ['{"total":1e300}', /total as a number that is too large/],
  ['{"eta_seconds":-0.5}', /eta_seconds as a negative number/],
  ['{"eta_seconds":9007199254740991}', /eta_seconds as a number that is too large/],
  ['{"completed":11,"total":10}', /^the probe printed completed 11 of 10$/],
  ['{"phase":7}', /a phase that is no text/],
  ['{"status":["failed"]}', /a status that is no text/],
  ['{"message":{}}', /a message that is no text/],
  ['{"completed":true}', /no number/],
  [
    '{"step":5,"epoch":2}',
    /^the probe printed none of status, phase, completed, total, eta_seconds, message \(it has: step, epoch\)$/,
  ],
  ['{"Completed":5}', /none of status, .*\(it has: Completed\)$/],
  ['{"total":10}', /^the probe printed total without completed$/],
  ['{"total":10,"completed":null}', /^the probe printed total without completed$/],
  ['{"total":10,"done":4}', /^the probe printed total without completed \(it has also: done\)$/],
] as const) {
  test(`a probe that prints ${JSON.stringify(stdout)} is of no use, and why is told`, () => {
    assert.match(whyOf({ stdout }), why);
  });
}

test('a probe that hangs, floods, fails or cannot start is of no use, and why is told', () => {
  assert.equal(whyOf({ how: 'timeout', code: null }), 'the probe took longer than 30s');
  assert.equal(whyOf({ how: 'flooded', code: null }), 'the probe printed more than 65536 bytes');
  assert.equal(
    whyOf({ how: 'failed', code: null, reason: 'spawn ENOENT' }),
    'the probe could not be started: spawn ENOENT',
  );
  assert.equal(whyOf({ code: 2, stderr: 'cat: n: none\n' }), 'the probe exited with code 2: cat: n: none');
  assert.equal(whyOf({ code: 1, stdout: '{"completed":1}' }), 'the probe exited with code 1');
  assert.equal(whyOf({ code: null }), 'the probe exited with code unknown');
  assert.match(whyOf({ how: 'aborted' }), /broken off/);
});

test('text of a probe is plain, on one line and short', () => {
  const answer = say(JSON.stringify({ phase: `\x1b[31mred\x07\n${'x'.repeat(5000)}`, message: 'a\n\tb\u202e' }));
  assert.ok(answer.kind === 'ok' && answer.phase !== null);
  assert.match(answer.phase, /^red x+…$/);
  assert.ok(Buffer.byteLength(answer.phase) <= 120);
  assert.equal(answer.message, 'a b');
  assert.ok(Buffer.byteLength(whyOf({ code: 1, stderr: '\x1b]0;title\x07é'.repeat(10_000) })) < 200);
  assert.ok(Buffer.byteLength(whyOf({ stdout: '\x1b[2J'.repeat(9000) })) < 250);
});

test('what a usable answer has in vain is told: a total alone, and fields that nobody reads', () => {
  const noteOf = (text: string) => {
    const answer = say(text);
    return answer.kind === 'ok' ? answer.note : answer;
  };
  assert.equal(noteOf('{"status":"failed","total":10}'), 'the probe printed total without completed');
  assert.equal(
    noteOf('{"status":"running","step":5}'),
    'the probe printed neither completed nor phase (it has also: step)',
  );
  for (const text of [
    '{"phase":"a","step":5}',
    '{"completed":1,"step":5}',
    '{"message":"m"}',
    '{"eta_seconds":5,"x":1}',
  ])
    assert.equal(noteOf(text), undefined, text);
});

test('names of unknown fields are plain and bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`\x1b[31mkey\n${index}`, index]));
  const why = whyOf({ stdout: JSON.stringify(many) });
  assert.match(why, /\(it has: key 0, key 1, .*…\)$/);
  assert.ok(Buffer.byteLength(why) < 250);
  assert.match(whyOf({ stdout: '{"":1}' }), /\(it has: ""\)$/);
});

test('deep nesting is read like everything else', () => {
  assert.equal(say(`{"completed":1,"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`).kind, 'ok');
});

test('a failure is told by its status only, whatever its case', () => {
  for (const status of ['failed', 'FAILED', 'Failure', ' error ', 'errored', 'Crashed']) {
    const answer = say(JSON.stringify({ status }));
    assert.ok(answer.kind === 'ok' && saysFailure(answer), status);
  }
  for (const status of ['running', 'done', 'completed', 'not failed', 'failed?', 'ok'])
    assert.equal(saysFailure(say(JSON.stringify({ status })) as never), false, status);
});
