// verdict.ts cell by cell, and the notes of backend.ts that every backend shares.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Ending,
  makeReading,
  noteDenial,
  noteFailure,
  noteTool,
  noteWarning,
  parseLine,
  type Reading,
} from '../../companion/src/backends/backend.ts';
import { judgeStaff, lastWords, type StaffReason } from '../../companion/src/backends/verdict.ts';

interface Facts {
  reading?: Partial<Reading>;
  ending?: Partial<Ending>;
  resume?: string;
  reason?: StaffReason;
  keepsConversation?: boolean;
}

const good = { final: 'success', answer: 'fine', conversationId: 'c1' } as const;

function judge({ reading, ending, resume = undefined, reason = 'exited', keepsConversation = true }: Facts) {
  return judgeStaff(
    { ...makeReading(), ...good, ...reading },
    { exitCode: 0, signal: null, stderrTail: '', byItself: reason === 'exited', ...ending },
    { resume: resume ?? null, reason, keepsConversation },
  );
}

const denied = { denials: ['Bash: rm x'] };
const told = { failure: { code: 'quota', message: 'used up', resets: '5 PM' } } as const;

const cells: [what: string, facts: Facts, error: string | null, warnings?: string[]][] = [
  ['all conditions hold', {}, null],
  ['the conversation asked for', { resume: 'c1' }, null],
  ['another conversation', { resume: 'c2' }, 'conversation_mismatch'],
  ['no conversation told', { resume: 'c2', reading: { conversationId: null } }, 'conversation_mismatch'],
  ['a CLI without conversations', { resume: 'c2', keepsConversation: false }, null],
  ['exit 1 after a success event', { ending: { exitCode: 1 } }, 'exit_nonzero'],
  ['death by signal after a success event', { ending: { exitCode: null, signal: 'SIGSEGV' } }, 'signal'],
  ['no final event, exit 0', { reading: { final: null } }, 'no_final_answer'],
  ['no final event, exit 1', { reading: { final: null }, ending: { exitCode: 1 } }, 'exit_nonzero'],
  ['no final event, signal', { reading: { final: null }, ending: { exitCode: null, signal: 'SIGTERM' } }, 'signal'],
  ['a failure event without a reason, exit 0', { reading: { final: 'failure' } }, 'agent_error'],
  ['a failure event with a reason', { reading: { final: 'failure', ...told } }, 'quota'],
  ['a failure beside a success event', { reading: told }, 'quota'],
  ['a failure and exit 1', { reading: { final: null, ...told }, ending: { exitCode: 1 } }, 'quota'],
  ['an empty answer', { reading: { answer: '' } }, 'no_final_answer'],
  ['a blank answer', { reading: { answer: ' \n\t' } }, 'no_final_answer'],
  ['no answer', { reading: { answer: null } }, 'no_final_answer'],
  ['a denial beside an answer', { reading: denied }, null, ['permission_denied']],
  ['a denial and an empty answer', { reading: { ...denied, answer: '' } }, 'permission_denied', ['permission_denied']],
  [
    'a denial, no answer, no final event',
    { reading: { ...denied, answer: null, final: null } },
    'permission_denied',
    ['permission_denied'],
  ],
  [
    'a denial and text, no final event',
    { reading: { ...denied, final: null } },
    'no_final_answer',
    ['permission_denied'],
  ],
  [
    'a denial and exit 1',
    { reading: { ...denied, answer: null }, ending: { exitCode: 1 } },
    'exit_nonzero',
    ['permission_denied'],
  ],
  [
    'a warning of the CLI',
    { reading: { warnings: [{ code: 'agent_warning', message: 'odd' }] } },
    null,
    ['agent_warning'],
  ],
  ['the word error on stderr', { ending: { stderrTail: 'ERROR: fatal\n' } }, null],
  ['unparsed lines', { reading: { unparsedLines: 3 } }, null],
  [
    'ended by us after the final event',
    { reason: 'lingered', ending: { exitCode: null, signal: 'SIGKILL' } },
    null,
    ['ended_after_answer'],
  ],
  ['lingering after a failure event', { reason: 'lingered', reading: { final: 'failure' } }, 'agent_error'],
  ['lingering after an empty answer', { reason: 'lingered', reading: { answer: '' } }, 'no_final_answer'],
  [
    'the limit after the answer',
    { reason: 'hard_timeout', ending: { exitCode: null, signal: 'SIGTERM' } },
    null,
    ['limit_after_answer'],
  ],
  ['the limit before a final event', { reason: 'hard_timeout', reading: { final: null } }, 'no_final_answer'],
];

for (const [what, facts, error, warnings = []] of cells) {
  test(`verdict, ${what}: ${error ?? 'success'}`, () => {
    const verdict = judge(facts);
    assert.equal(verdict.error?.code ?? null, error);
    assert.deepEqual(
      verdict.warnings.map((warning) => warning.code),
      warnings,
    );
  });
}

test('an answer is handed on verbatim, and text without a final event too, as a partial one', () => {
  assert.equal(judge({ reading: { answer: ' a\r\n' } }).answer, ' a\r\n');
  assert.equal(judge({ reading: { final: null } }).answer, 'fine');
  assert.equal(judge({ reading: { answer: ' ' } }).answer, null);
});

test('the structured failure keeps its words and its reset time', () => {
  assert.deepEqual(judge({ reading: told }).error, { code: 'quota', message: 'used up', resets: '5 PM' });
});

test('a failure without words of its own quotes the last line of stderr', () => {
  const stderrTail = 'first\nthe last words \n\n';
  const messages = [
    judge({ ending: { exitCode: 7, stderrTail } }),
    judge({ ending: { exitCode: null, signal: 'SIGBUS', stderrTail } }),
    judge({ reading: { final: null }, ending: { stderrTail } }),
    judge({ reading: { final: 'failure' }, ending: { stderrTail } }),
  ].map((verdict) => verdict.error?.message);
  assert.deepEqual(messages, [
    'the agent exited with code 7: the last words',
    'the agent was ended by SIGBUS: the last words',
    'the agent ended without a final event: the last words',
    'the last words',
  ]);
  assert.equal(lastWords({ exitCode: 0, signal: null, byItself: true, stderrTail: ' \n' }), undefined);
});

test('the first failure is kept, bounded', () => {
  const reading = makeReading();
  noteFailure(reading, 'auth', 'x'.repeat(10_000), 'soon');
  noteFailure(reading, 'agent_error', 'an echo');
  assert.equal(reading.failure?.code, 'auth');
  assert.equal(reading.failure?.resets, 'soon');
  assert.equal(Buffer.byteLength(reading.failure?.message ?? ''), 2048);
});

test('warnings and denials count once and are bounded', () => {
  const reading = makeReading();
  for (let n = 0; n < 50; n += 1) {
    noteWarning(reading, 'agent_warning', `odd ${n % 30}`);
    noteDenial(reading, `tool ${n % 30}`);
  }
  noteWarning(reading, 'agent_warning', '');
  assert.equal(reading.warnings.length, 20);
  assert.equal(new Set(reading.warnings.map((warning) => warning.message)).size, 20);
  assert.equal(new Set(reading.denials).size, 20);
  assert.equal(reading.denials.length, 20);
});

test('of many calls the last and every running one are kept, and all are counted', () => {
  const reading = makeReading();
  noteTool(reading, { key: 'long', name: 'shell', input: 'sleep', status: 'running' }, 't0');
  for (let n = 0; n < 40; n += 1) noteTool(reading, { key: `k${n}`, name: 'shell', status: 'completed' }, 't1');
  assert.equal(reading.toolCount, 41);
  assert.equal(reading.tools.length, 20);
  assert.deepEqual([reading.tools[0]?.key, reading.tools[0]?.ended_at], ['long', null]);
  assert.equal(reading.tools.at(-1)?.n, 41);
});

test('the end of a call completes its start; the same key later is another call', () => {
  const reading = makeReading();
  noteTool(reading, { key: 'k', name: 'shell', input: 'ls', status: 'running' }, 't0');
  noteTool(reading, { key: 'k', name: 'shell', output: 'o'.repeat(5000), status: 'failed' }, 't1');
  noteTool(reading, { key: 'k', name: 'shell', status: 'running' }, 't2');
  assert.equal(reading.toolCount, 2);
  const [first, second] = reading.tools;
  assert.deepEqual([first?.input, first?.status, first?.started_at, first?.ended_at], ['ls', 'failed', 't0', 't1']);
  assert.equal(Buffer.byteLength(first?.output ?? ''), 1024);
  assert.deepEqual([second?.status, second?.output, second?.ended_at], ['running', null, null]);
});

test('a refused call is named with what it wanted', () => {
  const reading = makeReading();
  noteTool(reading, { key: 'a', name: 'shell', input: 'rm x', status: 'running' }, 't0');
  noteTool(reading, { key: 'a', name: 'shell', status: 'denied' }, 't1');
  noteTool(reading, { key: 'b', name: 'web', status: 'denied' }, 't1');
  assert.deepEqual(reading.denials, ['shell: rm x', 'web']);
});

test('only a JSON object is an event', () => {
  const reading = makeReading();
  assert.deepEqual(parseLine('{"a":1}', reading), { a: 1 });
  for (const line of ['', ' ', 'x', '[]', '1', 'null', '{']) assert.equal(parseLine(line, reading), undefined, line);
  assert.equal(reading.unparsedLines, 5);
});
