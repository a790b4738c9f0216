// qwen.ts on every recorded run of qwen 0.24.4 (test/fixtures/agents/qwen) and of 0.15.10 (qwen-node20), which reports API errors as
// successes: what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { qwen } from '../../companion/src/backends/qwen.ts';
import { listCases, replay } from './replay.ts';

const hello = 'Hello from the fake model.';
const done = 'All done: the command printed hi.';
const nobody = '00000000-0000-4000-8000-000000000000';
const lost = (id: string) =>
  `session_lost: No saved session found with ID ${id}. Run \`qwen --resume\` without an ID to choose from existing sessions.`;
const given = '11111111-2222-4333-8444-555555555555';
const refusedKey = 'auth: [API Error: 401 fake invalid key]';
const noText = 'no_final_answer: [API Error: Model stream ended with empty response text.]';

interface Expected {
  /** A signal's message goes on with the last words of stderr. */
  error: string | null;
  answer?: string;
  /** `name status: input`, in order. */
  tools?: string[];
  warnings?: string[];
  resume?: string;
  /** Null when none is told. */
  id?: string | null;
  tokens: number | null;
}

const call = (status: string, command: string) => [`run_shell_command ${status}: ${command}`];
const echoed = call('completed', 'echo hi');
const slow = 'node -e "setTimeout(() => {}, 60000)"';
const denied = {
  error: null,
  answer: done,
  tools: call('denied', 'echo hi > made.txt'),
  warnings: ['permission_denied: refused to the agent: run_shell_command: echo hi > made.txt'],
};

const current: Record<string, Expected> = {
  'bad-flag': { error: 'agent_error: Unknown arguments: such-flag, suchFlag', id: null, tokens: null },
  badtool: { error: null, answer: done, tools: call('failed', 'echo oops >&2; exit 3'), tokens: 288 },
  'big-stdin': { error: null, answer: hello, tokens: 288 },
  continue: { error: null, answer: hello, resume: 'bad098ef-55e7-4a5a-a9e6-6672ca1604da', tokens: 864 },
  cut: { error: 'agent_error: [API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]', tokens: 0 },
  e401: { error: refusedKey, tokens: 0 },
  e500: { error: 'signal: the agent was ended by SIGKILL', tokens: null },
  'e500-long': { error: 'agent_error: [API Error: 500 fake internal error]', tokens: 0 },
  empty: { error: noText, tokens: 720 },
  // Not the format that we ask for: one array.
  json: { error: 'no_final_answer: the agent ended without a final event', id: null, tokens: null },
  'max-wall-time': {
    error: 'response_timeout: Run aborted: wall-clock budget of 4s exceeded (--max-wall-time).',
    tools: call('failed', slow),
    tokens: null,
  },
  resume: { error: null, answer: hello, resume: 'bad098ef-55e7-4a5a-a9e6-6672ca1604da', tokens: 576 },
  'resume-other-cwd': {
    error: lost('3376af2f-2abf-4c3d-bc2c-ed3da27bb815'),
    resume: '3376af2f-2abf-4c3d-bc2c-ed3da27bb815',
    id: null,
    tokens: null,
  },
  'resume-unknown': { error: lost(nobody), resume: nobody, id: null, tokens: null },
  'session-id': { error: null, answer: hello, id: given, tokens: 432 },
  'sigterm-child-only': {
    error: 'signal: the agent was ended by SIGTERM',
    tools: call('running', slow),
    tokens: null,
  },
  'sigterm-model': { error: 'signal: the agent was ended by SIGTERM', tokens: null },
  'sigterm-tool': { error: 'signal: the agent was ended by SIGTERM', tools: call('failed', slow), tokens: null },
  'stdin-open': { error: null, answer: hello, tokens: 288 },
  text: { error: null, answer: hello, tokens: 288 },
  tool: { error: null, answer: done, tools: echoed, tokens: 288 },
  'tool-partial': { error: null, answer: done, tools: echoed, tokens: 288 },
  'tool-stdin': { error: null, answer: done, tools: echoed, tokens: 288 },
  'write-bare': { ...denied, tokens: 288 },
  // The shell was not even offered.
  'write-default-approval': { error: null, answer: done, tokens: 432 },
};

const oldest: Record<string, Expected> = {
  'bad-flag': { error: 'agent_error: Unknown arguments: such-flag, suchFlag', id: null, tokens: null },
  badtool: { error: null, answer: done, tools: call('completed', 'echo oops >&2; exit 3'), tokens: 288 },
  // These three: exit 0, subtype success, is_error false.
  cut: { error: 'agent_error: [API Error: terminated (cause: other side closed)]', tokens: 0 },
  e401: { error: refusedKey, tokens: 0 },
  empty: { error: noText, tokens: 432 },
  e500: { error: 'signal: the agent was ended by SIGKILL', tokens: null },
  resume: { error: null, answer: hello, resume: '9fea7389-4372-4b97-9c8a-46df0294a335', tokens: 576 },
  'resume-unknown': { error: lost(nobody), resume: nobody, id: null, tokens: null },
  'session-id': { error: null, answer: hello, id: given, tokens: 288 },
  'sigterm-tool': { error: 'signal: the agent was ended by SIGTERM', tools: call('failed', slow), tokens: null },
  text: { error: null, answer: hello, tokens: 288 },
  tool: { error: null, answer: done, tools: echoed, tokens: 288 },
  'tool-partial': { error: null, answer: done, tools: echoed, tokens: 288 },
  'write-bare': { ...denied, tokens: 288 },
  'write-default-approval': { error: null, answer: done, tokens: 288 },
};

for (const [folder, expected] of Object.entries({ qwen: current, 'qwen-node20': oldest })) {
  test(`the table names every recorded run of ${folder}`, () => {
    assert.deepEqual(Object.keys(expected).sort(), listCases(folder));
  });

  for (const [name, want] of Object.entries(expected)) {
    test(`${folder}, recorded run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
      const { reading, verdict } = replay(qwen, name, { resume: want.resume, folder });
      const error = verdict.error && `${verdict.error.code}: ${verdict.error.message}`;
      const isQuoted = want.error !== null && /^(?:signal|no_final_answer):/.test(want.error);
      assert.equal(isQuoted ? error?.slice(0, want.error?.length) : error, want.error);
      assert.equal(verdict.answer, want.answer ?? null);
      const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input}`);
      assert.deepEqual(tools, want.tools ?? []);
      const warnings = verdict.warnings.map((warning) => `${warning.code}: ${warning.message}`);
      assert.deepEqual(warnings, want.warnings ?? []);
      if (want.id === null) assert.equal(reading.conversationId, null);
      else assert.match(reading.conversationId ?? '', new RegExp(`^${want.id ?? want.resume ?? '[0-9a-f-]{36}'}$`));
      assert.equal(reading.usage?.total_tokens ?? null, want.tokens);
      assert.equal(reading.unparsedLines, name === 'json' ? 1 : 0);
    });
  }
}
