// pi.ts on every recorded run of pi (test/fixtures/agents/pi): what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pi } from '../../companion/src/backends/pi.ts';
import { listCases, replay } from './replay.ts';

const hello = 'Hello from the fake model.';
const done = 'All done: the command printed hi.';
const tooled = '01a22c01-c303-73d3-b5ff-ba5f1f1a94e2';
const chosen = '11111111-2222-4333-8444-555555555555';
const unknown = '00000000-0000-4000-8000-000000000000';
const apiError = (status: number, message: string, type: string, code: string) =>
  `${status}: ${JSON.stringify({ message, type, param: null, code })}`;
const slow = 'node -e "setTimeout(() => {}, 60000)"';
const echoed = ['bash completed: echo hi -> hi\n'];

interface Expected {
  error: string | null;
  answer?: string;
  /** `name status: input -> output`, in order. */
  tools?: string[];
  warnings?: string[];
  /** How many messages the model sent: each is told with 120 tokens in and 24 out. */
  messages?: number;
  model?: string;
  conversation: string | null;
  resume?: string;
}

const expected: Record<string, Expected> = {
  'bad-flag': { error: 'agent_error: Unknown option: --no-such-flag', conversation: null },
  'bad-model': {
    error: null,
    answer: hello,
    warnings: ['agent_warning: Warning: Model "no-such-model" not found for provider "fake". Using custom model id.'],
    messages: 1,
    model: 'no-such-model',
    conversation: '01a22c03-94c2-7465-8dd4-4857f8c040eb',
  },
  badtool: {
    error: null,
    answer: done,
    tools: ['bash failed: echo oops >&2; exit 3 -> oops\n\n\nCommand exited with code 3'],
    messages: 2,
    conversation: '01a22c01-f268-736f-a3df-0a088f4bbb9e',
  },
  'big-stdin': { error: null, answer: hello, messages: 1, conversation: '01a22c15-3e43-70fa-83dd-84c5b0505474' },
  continue: { error: null, answer: hello, messages: 1, conversation: tooled, resume: tooled },
  // Exit 0, as every failure of the model.
  e401: {
    error: `auth: ${apiError(401, 'fake invalid key', 'invalid_request_error', 'invalid_api_key')}`,
    conversation: '01a22c02-9c82-7792-8cdf-941bb67e2901',
  },
  // Three retries, each after an `agent_end` that is not the last one.
  e500: {
    error: `agent_error: ${apiError(500, 'fake internal error', 'server_error', 'server_error')}`,
    conversation: '01a22c02-fabe-7495-a1f5-97221b64e719',
  },
  empty: {
    error: 'no_final_answer: the final answer is empty',
    messages: 1,
    conversation: '01a22c02-7ec7-7452-abeb-a058b265fe22',
  },
  resume: { error: null, answer: hello, messages: 1, conversation: tooled, resume: tooled },
  'resume-unknown': {
    error: `session_lost: No session found matching '${unknown}'`,
    conversation: null,
    resume: unknown,
  },
  'session-id': { error: null, answer: hello, messages: 1, conversation: chosen },
  'session-id-again': { error: null, answer: hello, messages: 1, conversation: chosen, resume: chosen },
  // pi catches the signal and exits with 143; the worker, who sees it, calls it a signal.
  'sigterm-child-only': {
    error: 'exit_nonzero: the agent exited with code 143',
    tools: [`bash running: ${slow} -> null`],
    messages: 1,
    conversation: '01a22c14-91b7-7168-be8e-673f98e644ff',
  },
  'sigterm-tool': {
    error: 'exit_nonzero: the agent exited with code 143',
    tools: [`bash running: ${slow} -> null`],
    messages: 1,
    conversation: '01a22c14-5c16-748d-9759-f86ed191b019',
  },
  'stdin-open': { error: 'signal: the agent was ended by SIGKILL', conversation: null },
  text: { error: null, answer: hello, messages: 1, conversation: '01a22c01-ad16-708c-9793-d828bb94c411' },
  tool: { error: null, answer: done, tools: echoed, messages: 2, conversation: tooled },
  'tool-stdin': {
    error: null,
    answer: done,
    tools: echoed,
    messages: 2,
    conversation: '01a22c01-da9f-7362-b5ca-6fa6710378b6',
  },
};

test('the table names every recorded run', () => {
  assert.deepEqual(Object.keys(expected).sort(), listCases('pi'));
});

for (const [name, want] of Object.entries(expected)) {
  test(`pi, recorded run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
    const { reading, verdict } = replay(pi, name, { resume: want.resume });
    assert.equal(verdict.error && `${verdict.error.code}: ${verdict.error.message}`, want.error);
    assert.equal(verdict.answer, want.answer ?? null);
    const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`);
    assert.deepEqual(tools, want.tools ?? []);
    const warnings = verdict.warnings.map((warning) => `${warning.code}: ${warning.message}`);
    assert.deepEqual(warnings, want.warnings ?? []);
    const n = want.messages;
    assert.deepEqual(
      reading.usage,
      n ? { input_tokens: 120 * n, output_tokens: 24 * n, total_tokens: 144 * n, cost_usd: 0 } : null,
    );
    assert.equal(reading.conversationId, want.conversation);
    assert.equal(reading.model, want.conversation === null ? null : (want.model ?? 'fake-model'));
    assert.equal(reading.unparsedLines, 0);
  });
}
