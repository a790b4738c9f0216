// What the scripted model answers, by scenario; the same for every wire. A scenario gets what the request shows:
//   { userTexts: string[], toolOutput: string | null }   (toolOutput: the last thing in the request is a tool's result)
// and returns one of
//   { text }                                  a final answer
//   { text, broken: 'cut' | 'hang' }          the beginning of one, then the socket is destroyed, or silence
//   { command }                               a call of the client's shell tool
//   { status, type, message, fields, headers} an HTTP error
import { createHash } from 'node:crypto';

export const plainText = 'Hello from the lab model.';
export const toolText = 'The lab tool has answered.';
export const toolCommand = 'echo from-the-lab-tool';

export const scenarios = {
  /** One final answer. */
  text: () => ({ text: plainText }),

  /** One shell call, then a final answer. */
  tool: ({ toolOutput }) => (toolOutput === null ? { command: toolCommand } : { text: toolText }),

  /** The shell command after `command:` in the task, then an answer that quotes what it printed. */
  shell: ({ userTexts, toolOutput }) =>
    toolOutput === null ? { command: wordAfter('command', userTexts) } : { text: `The tool printed: ${toolOutput}` },

  /** A shell call that runs until the file after `until:` in the task appears, at most 60 s; then a final answer. */
  slowtool: ({ userTexts, toolOutput }) =>
    toolOutput === null ? { command: waitForFile(wordAfter('until', userTexts)) } : { text: toolText },

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
  e429: () => ({ status: 429, type: 'rate_limit_exceeded', message: 'Rate limit reached for the lab model.' }),
  e500: () => ({ status: 500, type: 'server_error', message: 'The lab server had an error.' }),

  /** The allowance of a subscription is used up until the instant that the task names (`resets: EPOCH-SECONDS`). */
  quota: ({ userTexts }) => ({
    status: 429,
    type: 'usage_limit_reached',
    message: 'The usage limit has been reached',
    fields: { plan_type: 'plus', resets_at: Number(wordAfter('resets', userTexts)) },
  }),
};

/** The rest of the last line `NAME: ...` in the newest user text. */
function wordAfter(name, userTexts) {
  const found = [...(userTexts.at(-1) ?? '').matchAll(new RegExp(`^${name}: (.*)$`, 'gm'))].at(-1);
  return found ? found[1] : '';
}

function waitForFile(path) {
  const word = `'${path.replaceAll("'", "'\\''")}'`;
  return `i=0; until [ -e ${word} ] || [ $i -ge 600 ]; do i=$((i+1)); sleep 0.1; done; echo released`;
}

/** Bytes and SHA-256 of a text in UTF-8. */
export function digest(text) {
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
}
