// agy.ts on every made-up run of agy (test/fixtures/agents/agy, written by hand after documented shapes; agy could not be run here):
// what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { agy } from '../../companion/src/backends/agy.ts';
import { listCases, replay } from './replay.ts';

const conversation = '0a0a0a0a-1111-4222-8333-444444444444';
const unknown = '99999999-0000-4000-8000-000000000000';

interface Expected {
  error: string | null;
  answer?: string;
  /** `name status: input -> output`, in order. */
  tools?: string[];
  warnings?: string[];
  resume?: string;
  usage?: [input: number, output: number, total: number] | null;
  conversation?: string | null;
  isWaiting?: boolean;
}

const oneTurn: Expected['usage'] = [1000, 40, 1040];
const refused = 'permission_denied: refused to the agent: run_command: touch x';

const expected: Record<string, Expected> = {
  'background-killed': {
    error:
      'agent_error: agy ended commands that it had left running: root agent idle; waiting up to 5s for 1 background ' +
      'task(s); terminating 1 background task(s) on exit',
    answer: 'I started the tests and will report when they finish.\n',
    tools: ['run_command running: npm test -> null'],
  },
  'bad-model': {
    error: 'agent_error: invalid --model "nope" (made up)\nAvailable models:\n- a\n- b',
    usage: null,
    conversation: null,
  },
  'denied-canceled': {
    error: 'permission_denied: agy stopped at a tool that was refused: run_command: touch x',
    tools: ['run_command denied: touch x -> null'],
    warnings: ['agent_status: agy ended the turn with status CANCELED', refused],
  },
  'denied-error-state': {
    error: 'permission_denied: there is no final answer and these were refused: run_command: touch x',
    tools: ['run_command denied: touch x -> permission check failed (made up)'],
    warnings: [refused],
  },
  'not-signed-in': { error: 'auth: authentication timed out', usage: null, conversation: null, isWaiting: true },
  ok: { error: null, answer: 'Hello from a made-up run.\n' },
  'print-timeout': {
    error: 'response_timeout: [agy] print timeout after 8s with turn in progress; returning partial output',
    answer: 'Half an ans',
    usage: null,
  },
  quota: {
    error: 'quota: API error (attempt 5): RESOURCE_EXHAUSTED (code 429): quota reached (made up). Resets in 76h3m46s.',
    usage: null,
  },
  'resume-not-found': {
    error: `session_lost: warning: conversation "${unknown}" not found`,
    answer: 'I do not know what came before.\n',
    resume: unknown,
  },
  'resume-ok': { error: null, answer: 'Before, I said hello.\n', resume: conversation, usage: [2300, 81, 2381] },
  'structured-output': { error: null, answer: '{"toolAction":"Finish","toolSummary":"Finish","ok":true}\n' },
  subagent: { error: null, answer: 'Done.\n' },
  tool: {
    error: null,
    answer: 'It printed hi.\n',
    tools: ['run_command completed: echo hi -> hi\r\n'],
    usage: [2100, 70, 2170],
  },
  'tool-error-recovered': {
    error: null,
    answer: 'No such file.\n',
    tools: ['view_file failed: /home/user/proj/none.txt -> no such file (made up)'],
  },
  truncated: { error: 'signal: the agent was ended by SIGKILL', usage: null },
  'usage-error': {
    error: 'agent_error: -p took "--output-format" as its prompt (made up)',
    usage: null,
    conversation: null,
  },
};

test('the table names every made-up run', () => {
  assert.deepEqual(Object.keys(expected).sort(), listCases('agy'));
});

for (const [name, want] of Object.entries(expected)) {
  test(`agy, made-up run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
    const { reading, verdict } = replay(agy, name, { resume: want.resume });
    assert.equal(verdict.error && `${verdict.error.code}: ${verdict.error.message}`, want.error);
    assert.equal(verdict.answer, want.answer ?? null);
    const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`);
    assert.deepEqual(tools, want.tools ?? []);
    const warnings = verdict.warnings.map((warning) => `${warning.code}: ${warning.message}`);
    assert.deepEqual(warnings, want.warnings ?? []);
    const [input_tokens = 0, output_tokens = 0, total_tokens = 0] = want.usage ?? oneTurn;
    assert.deepEqual(reading.usage, want.usage === null ? null : { input_tokens, output_tokens, total_tokens });
    assert.equal(reading.conversationId, want.conversation === undefined ? conversation : want.conversation);
    assert.equal(reading.waitsForSignIn, want.isWaiting ?? false);
    assert.equal(reading.unparsedLines, 0);
  });
}

test('the reset time of a quota is told', () => {
  assert.equal(replay(agy, 'quota').verdict.error?.resets, 'in 76h3m46s');
});

test('the text so far is there for a run that was killed', () => {
  assert.equal(replay(agy, 'truncated').reading.text, 'Working on');
});
