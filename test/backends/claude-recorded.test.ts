// claude.ts on every recorded run of claude 2.1.332 (test/fixtures/agents/claude) and of the oldest that is accepted, 2.1.197
// (claude-node20): what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { claude } from '../../companion/src/backends/claude.ts';
import { listCases, replay } from './replay.ts';

const hello = 'Hello from the fake model.';
const done = 'All done: the command printed hi.';
const serverError =
  'API Error: 500 fake internal error. This is a server-side issue, usually temporary \u2014 try again in a moment. ' +
  'If it persists, check your inference gateway (127.0.0.1:PORT).';
const asRoot =
  'agent_error: --dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons';
const nobody = '00000000-0000-4000-8000-000000000000';
const lost = `session_lost: No conversation found with session ID: ${nobody}`;
const given = '11111111-2222-4333-8444-555555555555';
const inUse = `agent_error: Session ID ${given} is already in use.`;
const refusedKey = 'auth: Failed to authenticate. API Error: 401 fake invalid key';
const tooMany = 'quota: API Error: Request rejected (429) \u00b7 fake rate limit reached';
const signedOut = 'auth: Not logged in \u00b7 Please run /login';
const ended = 'exit_nonzero: the agent exited with code 143';

interface Expected {
  error: string | null;
  answer?: string;
  /** `name status: input`, in order. */
  tools?: string[];
  /** Beginnings. */
  warnings?: string[];
  resume?: string;
  /** Beginning of the id; null when none is told. */
  id?: string | null;
}

const echoed = ['Bash completed: echo hi'];
const failed = ['Bash failed: echo oops >&2; exit 3'];
const wrote = ['Bash completed: echo hi > made.txt'];
const interrupted = ['Bash failed: node -e "setTimeout(() => {}, 60000)"'];
const denied = { tools: ['Bash denied: echo hi > made.txt'], answer: done, error: null };
const denial = 'permission_denied: refused to the agent: Bash: echo hi > made.txt';

const current: Record<string, Expected> = {
  'bad-flag': { error: "agent_error: unknown option '--no-such-flag'", id: null },
  badtool: { error: null, answer: done, tools: failed },
  'big-stdin': { error: null, answer: hello },
  'bypass-permissions-as-root': { error: asRoot, id: null },
  continue: { error: null, answer: hello, resume: '875517d1-3fb6-431f-810b-fa38797a08b6' },
  // The broken stream was asked for again.
  cut: { error: null, answer: hello },
  // `subtype` is success in these.
  e401: { error: refusedKey },
  e429: { error: tooMany },
  e500: { error: `agent_error: ${serverError}` },
  empty: { error: 'no_final_answer: the final answer is empty' },
  flaky: { error: `agent_error: ${serverError}` },
  // Not the format that we ask for: one line, the result.
  json: { error: null, answer: done, id: null },
  'max-turns': { error: 'agent_error: Reached maximum number of turns (1)', tools: echoed },
  'no-key': { error: signedOut },
  'no-verbose': { error: 'agent_error: When using --print, --output-format=stream-json requires --verbose', id: null },
  resume: { error: null, answer: hello, resume: '875517d1-3fb6-431f-810b-fa38797a08b6' },
  'resume-fork': {
    error:
      'conversation_mismatch: conversation 875517d1-3fb6-431f-810b-fa38797a08b6 was asked for, ' +
      'the agent used 6f491b4c-b0aa-4940-8da4-48c8df70e522',
    answer: hello,
    resume: '875517d1-3fb6-431f-810b-fa38797a08b6',
    id: '6f491b4c',
  },
  'resume-other-cwd': { error: null, answer: hello, resume: '43870bbc-ed0d-4f17-a0ec-3da26a0b5dcb' },
  'resume-unknown': { error: lost, resume: nobody, id: null },
  'session-id': { error: null, answer: hello, id: given },
  'session-id-again': { error: inUse, id: null },
  // Exit 0.
  'sigint-tool': {
    error: 'agent_error: [ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use',
    tools: interrupted,
  },
  'sigterm-child-only': { error: ended, tools: interrupted },
  'sigterm-model': { error: ended },
  'sigterm-tool': { error: ended, tools: interrupted },
  'skip-permissions-as-root': { error: asRoot, id: null },
  'skip-permissions-sandbox': { error: null, answer: done, tools: wrote },
  'stdin-open': { error: null, answer: hello },
  text: { error: null, answer: hello },
  tool: { error: null, answer: done, tools: echoed },
  'tool-partial': { error: null, answer: done, tools: echoed },
  'tool-stdin': { error: null, answer: done, tools: echoed },
  'write-accept-edits': { error: null, answer: done, tools: wrote },
  'write-denied': { ...denied, warnings: [denial] },
  'write-dontask': { ...denied, warnings: [denial] },
  'write-plan': { ...denied, warnings: ["agent_warning: Auto mode can't check actions in this session.", denial] },
};

const oldest: Record<string, Expected> = {
  badtool: { error: null, answer: done, tools: failed },
  'bypass-permissions-as-root': { error: asRoot, id: null },
  cut: { error: null, answer: hello },
  e401: { error: refusedKey },
  e429: { error: tooMany },
  empty: { error: 'no_final_answer: the final answer is empty' },
  'max-turns': { error: 'agent_error: Reached maximum number of turns (1)', tools: echoed },
  'no-key': { error: signedOut },
  resume: { error: null, answer: hello, resume: '047c2b12-4cf8-43a0-84cd-b06c1dcb0cd6' },
  // This one looks for a conversation in the folder where it began.
  'resume-other-cwd': {
    error: 'session_lost: No conversation found with session ID: 047c2b12-4cf8-43a0-84cd-b06c1dcb0cd6',
    resume: '047c2b12-4cf8-43a0-84cd-b06c1dcb0cd6',
    id: null,
  },
  'resume-unknown': { error: lost, resume: nobody, id: null },
  'session-id': { error: null, answer: hello, id: given },
  'session-id-again': { error: inUse, id: null },
  // The signal ended the tool and not claude, which went on to a whole answer.
  'sigterm-tool': { error: null, answer: done, tools: interrupted },
  text: { error: null, answer: hello },
  tool: { error: null, answer: done, tools: echoed },
  'tool-partial': { error: null, answer: done, tools: echoed },
  'write-denied': { ...denied, warnings: [denial] },
  'write-dontask': { ...denied, warnings: [denial] },
  'write-plan': { ...denied, warnings: [denial] },
};

for (const [folder, expected] of Object.entries({ claude: current, 'claude-node20': oldest })) {
  test(`the table names every recorded run of ${folder}`, () => {
    assert.deepEqual(Object.keys(expected).sort(), listCases(folder));
  });

  for (const [name, want] of Object.entries(expected)) {
    test(`${folder}, recorded run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
      const { reading, verdict } = replay(claude, name, { resume: want.resume, folder });
      assert.equal(verdict.error && `${verdict.error.code}: ${verdict.error.message}`, want.error);
      assert.equal(verdict.answer, want.answer ?? null);
      const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input}`);
      assert.deepEqual(tools, want.tools ?? []);
      const warnings = verdict.warnings.map((warning, n) => {
        return `${warning.code}: ${warning.message}`.slice(0, want.warnings?.[n]?.length);
      });
      assert.deepEqual(warnings, want.warnings ?? []);
      if (want.id === null) assert.equal(reading.conversationId, null);
      else assert.match(reading.conversationId ?? '', new RegExp(`^${want.id ?? want.resume ?? '[0-9a-f-]{36}$'}`));
      assert.equal(reading.unparsedLines, 0);
    });
  }
}
