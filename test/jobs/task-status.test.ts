// What the status command of a detaching launcher may say, and what of it counts.
import assert from 'node:assert/strict';
import test from 'node:test';
import { readAnswer } from '../../companion/src/jobs/task-status.ts';
import type { ToolAnswer } from '../../companion/src/platform/tool.ts';

const said = (stdout: string, change: Partial<ToolAnswer> = {}): ToolAnswer => ({
  how: 'exited',
  code: 0,
  reason: null,
  stdout: Buffer.from(stdout),
  stderr: Buffer.alloc(0),
  ...change,
});
const read = (stdout: string, change?: Partial<ToolAnswer>) => readAnswer(said(stdout, change), 'job 7');
const known = (fields: object) => read(JSON.stringify({ identity: 'job 7', status: 'running', ...fields }));

test('the word and the exit code of the named task are taken', () => {
  assert.deepEqual(known({ status: 'ended', exit_code: 3 }), { task_status: 'ended', task_exit_code: 3 });
  assert.deepEqual(known({ exit_code: 0 }), { task_status: 'running', task_exit_code: 0 });
  assert.deepEqual(read('\n {"identity":"job 7","status":"ok","exit_code":-1,"more":[1]} \n'), {
    task_status: 'ok',
    task_exit_code: -1,
  });
  assert.deepEqual(readAnswer(said('{"identity":4711,"status":"ok"}'), '4711'), {
    task_status: 'ok',
    task_exit_code: 'unknown',
  });
});

for (const code of [null, '3', 1.5, 1e300, true, {}]) {
  test(`an exit code that is ${JSON.stringify(code)} is unknown, and the status counts all the same`, () => {
    assert.deepEqual(known({ exit_code: code }), { task_status: 'running', task_exit_code: 'unknown' });
  });
}

test('a status is plain text on one bounded line', () => {
  const answer = known({ status: `\x1b[31mred\u202e\n${'x'.repeat(5000)}` });
  assert.ok('task_status' in answer);
  assert.match(answer.task_status, /^red x+…$/);
  assert.ok(Buffer.byteLength(answer.task_status) <= 200);
});

for (const [what, answer, why] of [
  ['another task', said('{"identity":"job 8","status":"running"}'), 'names another task (job 8)'],
  ['a name with a space more', said('{"identity":"job 7 ","status":"running"}'), 'names another task (job 7)'],
  ['no name', said('{"status":"running"}'), 'names no task'],
  ['a name of another form', said('{"identity":["job 7"],"status":"running"}'), 'names no task'],
  ['no status', said('{"identity":"job 7"}'), 'tells no status'],
  ['an empty status', said('{"identity":"job 7","status":" "}'), 'tells no status'],
  ['a status that is a number', said('{"identity":"job 7","status":1}'), 'tells no status'],
  ['nothing', said(''), 'printed no JSON object'],
  ['a list', said('[{"identity":"job 7","status":"running"}]'), 'printed no JSON object'],
  ['null', said('null'), 'printed no JSON object'],
  ['two objects', said('{"identity":"job 7","status":"a"}\n{}'), 'printed no JSON object'],
  ['a failure', said('{"identity":"job 7","status":"a"}', { code: 4 }), 'exited with code 4'],
  [
    'a failure with a word',
    said('', { code: 1, stderr: Buffer.from('\x1b[1mno\n route') }),
    'exited with code 1 (no route)',
  ],
  ['an end by a signal of others', said('', { code: null }), 'was killed'],
  ['no end', said('', { how: 'timeout', code: null }), 'gave no answer within 30s'],
  ['too much', said('x', { how: 'flooded', code: null }), 'printed more than 64.0 KiB'],
  ['no start', said('', { how: 'failed', code: null, reason: 'spawn ENOENT' }), 'could not be started (spawn ENOENT)'],
] as const) {
  test(`an answer with ${what} counts for nothing and says why`, () => {
    assert.deepEqual(readAnswer(answer, 'job 7'), { why });
  });
}
