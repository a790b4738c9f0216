// opencode.ts on every recorded run of opencode (test/fixtures/agents/opencode): what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { opencode } from '../../companion/src/backends/opencode.ts';
import { listCases, replay } from './replay.ts';

const hello = 'Hello from the fake model.';
const done = 'All done: the command printed hi.';
const tooled = 'ses_dd3f9f76affeugtrXvqsJOnhSC';
const lost = 'ses_doesnotexist00000000000';
const echoed = ['bash completed: echo hi -> hi\n'];

interface Expected {
  error: string | null;
  answer?: string;
  /** `name status: input -> output`, in order. */
  tools?: string[];
  warnings?: string[];
  /** How many steps the model took: each is told with 120 tokens in and 24 out. */
  steps?: number;
  conversation: string | null;
  resume?: string;
}

const expected: Record<string, Expected> = {
  // The help only: opencode does not say which option it was.
  'bad-flag': { error: 'agent_error: opencode exited with code 1: opencode run [message..]', conversation: null },
  'bad-model': {
    error: 'agent_error: Unexpected server error. Check server logs for details.',
    conversation: 'ses_dd3f4b9bcffe7VRcLdXU38jDhR',
  },
  badtool: {
    error: null,
    answer: done,
    tools: ['bash failed: echo oops >&2; exit 3 -> oops\n'],
    steps: 2,
    conversation: 'ses_dd3f951fcffe8DdaPpsRwZyYYL',
  },
  // Exit 0, and stopped for good at the refused tool.
  'bash-ask': {
    error: 'permission_denied: there is no final answer and these were refused: bash: echo hi',
    tools: ['bash denied: echo hi -> The user rejected permission to use this specific tool call.'],
    warnings: ['permission_denied: refused to the agent: bash: echo hi'],
    steps: 1,
    conversation: 'ses_dd3f90d65ffeltAxZ0ptQ01V3o',
  },
  'bash-ask-auto': {
    error: null,
    answer: done,
    tools: echoed,
    steps: 2,
    conversation: 'ses_dd3f8c835ffeWQLUMtBKjmZnML',
  },
  'big-stdin': { error: null, answer: hello, steps: 1, conversation: 'ses_dd3e5c181ffeomI0iozDlSMUP1' },
  continue: { error: null, answer: hello, steps: 1, conversation: tooled, resume: tooled },
  e401: { error: 'auth: fake invalid key', conversation: 'ses_dd3f73e54ffej2LvWBnK47Oy45' },
  // Ended by the recorder while it retried in silence.
  e500: { error: 'signal: the agent was ended by SIGKILL', conversation: null },
  'e500-long': { error: 'agent_error: fake internal error', conversation: 'ses_dd3ed8562ffeAeWt9lm9A2EHxD' },
  // Exit 0.
  empty: {
    error: 'no_final_answer: the final answer is empty',
    steps: 1,
    conversation: 'ses_dd3f77da9ffeBoWRSHQgRq8l3j',
  },
  resume: { error: null, answer: hello, steps: 1, conversation: tooled, resume: tooled },
  'resume-unknown': { error: 'session_lost: Session not found', conversation: null, resume: lost },
  'sigterm-child-only': {
    error: 'signal: the agent was ended by SIGTERM',
    conversation: 'ses_dd3e686c8ffe0fP7IQPnspCd6t',
  },
  'sigterm-tool': { error: 'signal: the agent was ended by SIGTERM', conversation: 'ses_dd3e6ca8effeOTWQy6LT4LixI8' },
  'stdin-open': { error: 'signal: the agent was ended by SIGKILL', conversation: null },
  text: { error: null, answer: hello, steps: 1, conversation: 'ses_dd3fa27b8ffesgSl701KfCnZp4' },
  tool: { error: null, answer: done, tools: echoed, steps: 2, conversation: tooled },
  'tool-stdin': {
    error: null,
    answer: done,
    tools: echoed,
    steps: 2,
    conversation: 'ses_dd3f9b2b7ffe8RPTd3qOKp5bwG',
  },
};

test('the table names every recorded run', () => {
  assert.deepEqual(Object.keys(expected).sort(), listCases('opencode'));
});

for (const [name, want] of Object.entries(expected)) {
  test(`opencode, recorded run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
    const { reading, verdict } = replay(opencode, name, { resume: want.resume });
    assert.equal(verdict.error && `${verdict.error.code}: ${verdict.error.message}`, want.error);
    assert.equal(verdict.answer, want.answer ?? null);
    const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`);
    assert.deepEqual(tools, want.tools ?? []);
    const warnings = verdict.warnings.map((warning) => `${warning.code}: ${warning.message}`);
    assert.deepEqual(warnings, want.warnings ?? []);
    const { steps } = want;
    assert.deepEqual(
      reading.usage,
      steps ? { input_tokens: 120 * steps, output_tokens: 24 * steps, total_tokens: 144 * steps, cost_usd: 0 } : null,
    );
    assert.equal(reading.conversationId, want.conversation);
    assert.equal(reading.unparsedLines, 0);
  });
}
