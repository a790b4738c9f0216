// gemini.ts on every recorded run of gemini (test/fixtures/agents/gemini): what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { gemini } from '../../companion/src/backends/gemini.ts';
import { listCases, replay } from './replay.ts';

const hello = 'Hello from the fake model.';
const done = 'All done: the command printed hi.';
const unknown = '00000000-0000-4000-8000-000000000000';
const apiError = (code: number, message: string, status: string) =>
  `[API Error: ${JSON.stringify({ error: { code, message, status } })}]`;
const slow = 'node -e "setTimeout(() => {}, 60000)"';
const echoed = ['run_shell_command completed: echo hi -> hi'];

interface Expected {
  /** `code: message`, or its beginning when it ends with an ellipsis; null is success. */
  error: string | null;
  answer?: string;
  /** `name status: input -> output`, in order. */
  tools?: string[];
  /** Input, output and total tokens. */
  usage?: [number, number, number];
  conversation: string | null;
  resume?: string;
}

const oneTurn: [number, number, number] = [120, 24, 152];
const twoTurns: [number, number, number] = [240, 48, 304];

const expected: Record<string, Expected> = {
  'bad-flag': { error: 'agent_error: Unknown arguments: such-flag, suchFlag', conversation: null },
  // gemini calls a command with exit 3 a success of the tool.
  badtool: {
    error: null,
    answer: done,
    tools: ['run_shell_command completed: echo oops >&2; exit 3 -> oops'],
    usage: twoTurns,
    conversation: '802777c4-36a8-4b1b-99e9-9d836e5ab597',
  },
  'big-stdin': { error: null, answer: hello, usage: oneTurn, conversation: '7f19c8dd-3e35-4578-8830-6ea32b08b26e' },
  // Exit 145.
  e401: {
    error: `auth: ${apiError(401, 'fake invalid key', 'UNAUTHENTICATED')}`,
    conversation: '5a6e0545-6410-4534-880c-bac9dfeba18d',
  },
  // Exit 244.
  e500: {
    error: `agent_error: ${apiError(500, 'fake internal error', 'INTERNAL')}`,
    conversation: 'a9e8d14c-9b0d-4689-a299-84bb1daf701b',
  },
  // Exit 0.
  empty: {
    error: 'no_final_answer: The model returned an empty response with no text or thoughts. This may be…',
    usage: twoTurns,
    conversation: '511ba1f8-2a26-4348-baf1-15cb4ac827b5',
  },
  // The other output format, which we never ask for: no stream is no success.
  json: { error: 'no_final_answer: the agent ended without a final event…', conversation: null },
  'json-e401': { error: 'auth: Error when talking to Gemini API Full report available at: …', conversation: null },
  'no-key': {
    error: 'auth: When using Gemini API, you must specify the GEMINI_API_KEY environment variable.',
    conversation: null,
  },
  resume: {
    error: null,
    answer: hello,
    usage: oneTurn,
    conversation: '8428d41f-c52c-4031-a050-fd16adad3c6d',
    resume: '8428d41f-c52c-4031-a050-fd16adad3c6d',
  },
  'resume-latest': { error: null, answer: hello, usage: oneTurn, conversation: '25f888ca-2e58-43f5-8827-17dcf45911a2' },
  'resume-unknown': {
    error: `session_lost: Error resuming session: Invalid session identifier "${unknown}".`,
    conversation: null,
    resume: unknown,
  },
  'session-id': { error: null, answer: hello, usage: oneTurn, conversation: '11111111-2222-4333-8444-555555555555' },
  // The signal reached the launcher only, which ignored it: the run ended by itself.
  'sigterm-child-only': {
    error: null,
    answer: done,
    tools: [`run_shell_command completed: ${slow} -> null`],
    usage: twoTurns,
    conversation: '9c4027e4-f827-4fa9-ac53-1bc67d65d1c8',
  },
  // Exit 0 after a SIGTERM.
  'sigterm-tool': {
    error: 'no_final_answer: the agent ended without a final event…',
    tools: [`run_shell_command running: ${slow} -> null`],
    conversation: '413042c6-7886-4e29-adf0-931e5c1f0931',
  },
  'stdin-open': { error: null, answer: hello, usage: oneTurn, conversation: '938f2e34-272d-4f5a-9afc-1c0c870c78da' },
  text: { error: null, answer: hello, usage: oneTurn, conversation: '59f9e7cd-0133-46da-8c39-45f8a0f80b51' },
  tool: {
    error: null,
    answer: done,
    tools: echoed,
    usage: twoTurns,
    conversation: '8428d41f-c52c-4031-a050-fd16adad3c6d',
  },
  'tool-default-approval': {
    error: null,
    answer: done,
    usage: oneTurn,
    conversation: 'b2f8f391-0725-4438-b268-af9bcd976e41',
  },
  'tool-stdin': {
    error: null,
    answer: done,
    tools: echoed,
    usage: twoTurns,
    conversation: 'bf3a74fb-6889-457b-b1c1-35afde6040a4',
  },
  untrusted: { error: 'agent_error: Gemini CLI is not running in a trusted directory.…', conversation: null },
};

test('the table names every recorded run', () => {
  assert.deepEqual(Object.keys(expected).sort(), listCases('gemini'));
});

for (const [name, want] of Object.entries(expected)) {
  test(`gemini, recorded run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
    const { reading, verdict } = replay(gemini, name, { resume: want.resume });
    const error = verdict.error && `${verdict.error.code}: ${verdict.error.message}`;
    if (want.error?.endsWith('…')) assert.ok(error?.startsWith(want.error.slice(0, -1)), `${error}`);
    else assert.equal(error, want.error);
    assert.equal(verdict.answer, want.answer ?? null);
    const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`);
    assert.deepEqual(tools, want.tools ?? []);
    const { usage } = reading;
    assert.deepEqual(usage && [usage.input_tokens, usage.output_tokens, usage.total_tokens], want.usage ?? null);
    assert.equal(reading.conversationId, want.conversation);
    assert.equal(reading.model, want.conversation === null ? null : 'gemini-2.5-flash');
    assert.deepEqual(verdict.warnings, []);
    // The other format is one object over many lines.
    if (name !== 'json') assert.equal(reading.unparsedLines, 0);
  });
}
