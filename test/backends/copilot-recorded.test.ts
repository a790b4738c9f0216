// copilot.ts on every recorded run of copilot (test/fixtures/agents/copilot): what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { copilot } from '../../companion/src/backends/copilot.ts';
import { listCases, replay } from './replay.ts';

const hello = 'Hello from the fake model.';
const done = 'All done: the command printed hi.';
const given = '11111111-2222-4333-8444-555555555555';
const tool = 'e373cd6d-277c-4baf-913f-a8e374131433';
const denial =
  'Permission denied because no interactive user response was available. Retry in an interactive session so the user can approve ' +
  'it, or try an alternative that does not require this permission.';

interface Expected {
  error: string | null;
  answer?: string;
  /** `name status: input -> output`, in order. */
  tools?: string[];
  warnings?: string[];
  resume?: string;
  /** Undefined: some id of copilot's own choice. */
  conversation?: string | null;
}

const echoed = ['bash completed: echo hi -> hi\n<shellId: 0 completed with exit code 0>'];
const interrupted = ['bash running: node -e "setTimeout(() => {}, 60000)" -> null'];

const expected: Record<string, Expected> = {
  'bad-flag': { error: 'agent_error: Invalid command format.', conversation: null },
  badtool: {
    error: null,
    answer: done,
    tools: ['bash failed: echo oops >&2; exit 3 -> oops\n<shellId: 0 completed with exit code 3>'],
  },
  'big-stdin': { error: null, answer: hello },
  e401: {
    error:
      'auth: Authentication failed with provider at http://127.0.0.1:PORT/e401/v1 (HTTP 401).\n  Check your COPILOT_PROVIDER_API_KEY, ' +
      'COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.',
  },
  e500: {
    error:
      'agent_error: Failed to get response from the AI model; retried 5 times (total retry wait time: 14.39 seconds) Last error: ' +
      '500 fake internal error',
  },
  empty: { error: 'no_final_answer: No response was returned. Send your message again to retry.' },
  resume: { error: null, answer: hello, resume: tool, conversation: tool },
  'resume-of-session-id': { error: null, answer: hello, resume: given, conversation: given },
  'resume-unknown': {
    error: "session_lost: No session, task, or name matched '00000000-0000-4000-8000-000000000000'.",
    resume: '00000000-0000-4000-8000-000000000000',
    conversation: null,
  },
  'session-id': { error: null, answer: hello, conversation: given },
  'sigterm-child-only': { error: 'signal: the agent was ended by SIGTERM', tools: interrupted, conversation: null },
  'sigterm-tool': { error: 'signal: the agent was ended by SIGTERM', tools: interrupted, conversation: null },
  'stdin-open': { error: null, answer: hello },
  text: { error: null, answer: hello },
  tool: { error: null, answer: done, tools: echoed, conversation: tool },
  'tool-stdin': { error: null, answer: done, tools: echoed },
  'write-denied': {
    error: null,
    answer: done,
    tools: [`bash denied: echo hi > made.txt -> ${denial}`],
    warnings: ['permission_denied: refused to the agent: bash: echo hi > made.txt'],
  },
};

test('the table names every recorded run', () => {
  assert.deepEqual(Object.keys(expected).sort(), listCases('copilot'));
});

for (const [name, want] of Object.entries(expected)) {
  test(`copilot, recorded run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
    const { reading, verdict } = replay(copilot, name, { resume: want.resume });
    const error = verdict.error && `${verdict.error.code}: ${verdict.error.message}`;
    // The signal cases quote the last words of stderr behind the signal.
    assert.equal(want.error?.startsWith('signal:') ? error?.slice(0, want.error.length) : error, want.error);
    assert.equal(verdict.answer, want.answer ?? null);
    const tools = reading.tools.map((call) => `${call.name} ${call.status}: ${call.input} -> ${call.output}`);
    assert.deepEqual(tools, want.tools ?? []);
    const warnings = verdict.warnings.map((warning) => `${warning.code}: ${warning.message}`);
    assert.deepEqual(warnings, want.warnings ?? []);
    if (want.conversation === undefined) assert.match(reading.conversationId ?? '', /^[\da-f-]{36}$/);
    else assert.equal(reading.conversationId, want.conversation);
    assert.equal(reading.usage, null);
    assert.equal(reading.unparsedLines, 0);
  });
}

test('deltas are the text while it runs', () => {
  assert.equal(replay(copilot, 'text').reading.text, hello);
  assert.equal(replay(copilot, 'text').reading.model, 'fake-model');
});
