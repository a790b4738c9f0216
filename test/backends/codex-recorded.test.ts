// codex.ts on every recorded run of codex (test/fixtures/agents/codex): what the job would be, and why.
import assert from 'node:assert/strict';
import test from 'node:test';
import { codex } from '../../companion/src/backends/codex.ts';
import { listCases, replay } from './replay.ts';

const hello = 'Hello from the fake model.';
const done = 'All done: the command printed hi.';
const overloaded = 'We’re currently experiencing high demand, which may cause temporary errors.';
const refusedKey = 'unexpected status 401 Unauthorized: fake invalid key, url: http://127.0.0.1:PORT/e401/v1/responses';
const unknownModel = 'agent_warning: Model metadata for `fake-model` not found. Defaulting to fallback metadata;';
const thread = '01a22bfe-9211-7f90-84c0-cddae2b57942';
const slow = `/bin/bash -lc 'node -e "setTimeout(() => {}, 60000)"'`;

interface Expected {
  error: string | null;
  answer?: string;
  /** `name status: input`, in order. */
  tools?: string[];
  warnings?: string[];
  resume?: string;
}

const echoed = ["command_execution completed: /bin/bash -lc 'echo hi' -> hi\n"];
const written = ["command_execution completed: /bin/bash -lc 'echo hi > made.txt' -> null"];
const interrupted = [`command_execution running: ${slow} -> null`];

const expected: Record<string, Expected> = {
  'bad-flag': { error: "agent_error: unexpected argument '--no-such-flag' found", warnings: [] },
  badtool: {
    error: null,
    answer: done,
    tools: ["command_execution failed: /bin/bash -lc 'echo oops >&2; exit 3' -> oops\n"],
  },
  'big-stdin': { error: null, answer: hello },
  e401: {
    error: `auth: ${refusedKey}`,
    warnings: [unknownModel, `agent_retried: Reconnecting... 1/1 (${refusedKey})`],
  },
  e500: {
    error: `agent_error: ${overloaded}`,
    warnings: [unknownModel, `agent_retried: Reconnecting... 1/1 (${overloaded})`],
  },
  empty: { error: 'no_final_answer: the final answer is empty' },
  // Told "Reconnecting" and then succeeded: no warning of it is left.
  flaky: { error: null, answer: hello },
  'not-a-git-repo': {
    error: 'agent_error: Not inside a trusted directory and --skip-git-repo-check was not specified.',
    warnings: [],
  },
  resume: { error: null, answer: hello, resume: thread },
  'resume-last': { error: null, answer: hello, resume: thread },
  'resume-unknown': {
    error:
      'session_lost: thread/resume: thread/resume failed: no rollout found for thread id ' +
      '00000000-0000-4000-8000-000000000000 (code -32600)',
    warnings: [],
    resume: '00000000-0000-4000-8000-000000000000',
  },
  'resume-with-sandbox-stdin': { error: null, answer: hello, resume: thread },
  'sigterm-child-only': { error: 'signal: the agent was ended by SIGTERM', tools: interrupted },
  'sigterm-tool': { error: 'signal: the agent was ended by SIGTERM', tools: interrupted },
  'stdin-open': { error: 'signal: the agent was ended by SIGKILL', warnings: [] },
  text: { error: null, answer: hello },
  tool: { error: null, answer: done, tools: echoed },
  'tool-full-access': { error: null, answer: done, tools: echoed },
  'tool-stdin': { error: null, answer: done, tools: echoed },
  'write-full-access': { error: null, answer: done, tools: written },
  'write-read-only': { error: null, answer: done },
  'write-workspace-write': { error: null, answer: done, tools: written },
};

test('the table names every recorded run', () => {
  assert.deepEqual(Object.keys(expected).sort(), listCases('codex'));
});

for (const [name, want] of Object.entries(expected)) {
  test(`codex, recorded run ${name}: ${want.error?.split(':')[0] ?? 'done'}`, () => {
    const { reading, verdict } = replay(codex, name, { resume: want.resume });
    const error = verdict.error && `${verdict.error.code}: ${verdict.error.message}`;
    // The signal cases quote the last words of stderr behind the signal.
    assert.equal(want.error?.startsWith('signal:') ? error?.slice(0, want.error.length) : error, want.error);
    assert.equal(verdict.answer, want.answer ?? null);
    const tools = reading.tools.map((tool) => `${tool.name} ${tool.status}: ${tool.input} -> ${tool.output}`);
    assert.deepEqual(tools, want.tools ?? []);
    const warnings = verdict.warnings.map((warning, n) => {
      return `${warning.code}: ${warning.message}`.slice(0, (want.warnings ?? [unknownModel])[n]?.length);
    });
    assert.deepEqual(warnings, want.warnings ?? [unknownModel]);
    assert.equal(reading.unparsedLines, 0);
  });
}
