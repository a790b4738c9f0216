// What the scripted model answers, by scenario; the same for every wire. A scenario gets what the request shows:
//   { userTexts: string[], toolOutput: string | null }   (toolOutput: the last thing in the request is a tool's result)
// and returns one of
//   { text }                                  a final answer
//   { text, broken: 'cut' | 'hang' }          the beginning of one, then the socket is destroyed, or silence
//   { calls: [...], text }                    calls of the client's tools (forms: tools.mjs); `text` instead when the
//                                             client declared no tool for it
//   { status, type, message, fields, headers} an HTTP error
// Words for a scenario stand in the newest user text as lines `NAME: ...`, whatever a client or the companion put around.
import { createHash } from 'node:crypto';
import { quote } from './tools.mjs';

export const plainText = 'Hello from the lab model.';
export const toolText = 'The lab tool has answered.';
export const toolCommand = 'echo from-the-lab-tool';
export const twoCommands = ['echo lab-tool-one', 'echo lab-tool-two'];
export const noToolText = 'The client declared no tool for this.';
export const writtenText = 'written by the lab\n';

export const scenarios = {
  /** One final answer. */
  text: () => ({ text: plainText }),

  /** One shell call, then a final answer. */
  tool: (seen) => callThenSay(seen, [{ command: toolCommand }]),

  /** Two shell calls in one answer, then a final answer. */
  twotools: (seen) =>
    callThenSay(
      seen,
      twoCommands.map((command) => ({ command })),
    ),

  /** The shell command after `command:` in the task, then an answer that quotes what it printed. */
  shell: (seen) => callThenQuote(seen, { command: wordAfter('command', seen.userTexts) }),

  /** Writes the file named after `file:` in the task, by the shell where there is one; then a final answer. */
  write: (seen) => callThenSay(seen, [writing(seen, 'shell')]),

  /** The same, by the client's own tool for files where it declared one. */
  writefile: (seen) => callThenSay(seen, [writing(seen, 'file')]),

  /**
   * The same as `write`, then an answer that quotes the refusal. With the line `by: file` in the task as `writefile`, with
   * `call: NAME` by that tool, also when the client did not declare it.
   */
  denied: (seen) => {
    const [by, name] = ['by', 'call'].map((word) => wordAfter(word, seen.userTexts));
    return callThenQuote(seen, { ...writing(seen, by === 'file' ? 'file' : 'shell'), name });
  },

  /** A shell call that runs until the file after `until:` in the task appears, at most 60 s; then a final answer. */
  slowtool: (seen) => callThenSay(seen, [{ command: waitForFile(wordAfter('until', seen.userTexts)) }]),

  /** The answer that the task gives after `answer:`, a JSON string or any other JSON text. */
  findings: ({ userTexts }) => ({ text: decode(wordAfter('answer', userTexts)) }),

  /** A loop's agent: writes the file of its milestone, m2 wrongly at first; mends it when told to; and judges a boundary with yes. */
  loop: (seen) => {
    const task = seen.userTexts.at(-1) ?? '';
    if (task.includes('You judge the boundary')) {
      const answers = ['E1', 'E3', 'E5'].map((id) => [id, { holds: true, why: 'the lab says so' }]);
      return { text: JSON.stringify({ answers: Object.fromEntries(answers) }) };
    }
    const milestone = /Milestone (m\d)/.exec(task)?.[1] ?? 'm0';
    const isWrong = milestone === 'm2' && !task.includes('is not right yet');
    return callThenSay(seen, [{ command: `echo ${isWrong ? 'broken' : 'ok'} >${milestone}.txt` }]);
  },

  /** Bytes and SHA-256 of the last user text, to prove that a prompt arrived unchanged. */
  echo: ({ userTexts }) => ({ text: JSON.stringify(digest(userTexts.at(-1) ?? '')) }),

  /** How many user turns the request holds, to prove that a conversation goes on. */
  count: ({ userTexts }) => ({ text: `user turns: ${userTexts.length}` }),

  /** An answer with nothing in it. */
  empty: () => ({ text: '' }),

  /** The stream breaks off in the middle of the answer. */
  cut: () => ({ text: plainText, broken: 'cut' }),

  /** The answer begins and never goes on. */
  hang: () => ({ text: plainText, broken: 'hang' }),

  e401: () => ({ status: 401, type: 'invalid_request_error', message: 'Incorrect API key provided: lab.' }),
  e429: () => ({
    status: 429,
    type: 'rate_limit_exceeded',
    message: 'Rate limit reached for the lab model.',
    headers: { 'retry-after': '1' },
  }),
  e500: () => ({ status: 500, type: 'server_error', message: 'The lab server had an error.' }),

  /** The allowance of a subscription is used up until the instant that the task names (`resets: EPOCH-SECONDS`). */
  quota: ({ userTexts }) => ({
    status: 429,
    type: 'usage_limit_reached',
    message: 'The usage limit has been reached',
    fields: { plan_type: 'plus', resets_at: Number(wordAfter('resets', userTexts)) },
  }),
};

function callThenSay({ toolOutput }, calls) {
  return toolOutput === null ? { calls, text: noToolText } : { text: toolText };
}

function callThenQuote({ toolOutput }, call) {
  return toolOutput === null ? { calls: [call], text: noToolText } : { text: `The tool printed: ${toolOutput}` };
}

function writing({ userTexts }, first) {
  return { file: wordAfter('file', userTexts), content: writtenText, first };
}

/** The rest of the last line `NAME: ...` in the newest user text. */
function wordAfter(name, userTexts) {
  const found = [...(userTexts.at(-1) ?? '').matchAll(new RegExp(`^${name}: (.*)$`, 'gm'))].at(-1);
  return found ? found[1] : '';
}

/** A JSON string stands for its text, so that an answer can have lines; anything else is the answer as it is. */
function decode(word) {
  try {
    const value = JSON.parse(word);
    return typeof value === 'string' ? value : word;
  } catch {
    return word;
  }
}

/** Without `$(`, which one client refuses wherever it stands. */
function waitForFile(path) {
  return `i=; until [ -e ${quote(path)} ] || [ \${#i} -ge 600 ]; do i=x$i; sleep 0.1; done; echo released`;
}

/** Bytes and SHA-256 of a text in UTF-8. */
export function digest(text) {
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
}
