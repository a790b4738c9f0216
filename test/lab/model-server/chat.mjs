// The OpenAI Chat Completions wire, streaming and not. Facts about the shapes are from the vendor's API reference and
// from watching qwen, opencode, pi and copilot.
import { breakOff, makeId, openStream, piecesOf, sendEvent, sendWhole, userTextOf } from './sse.mjs';

export const chat = {
  name: 'chat',
  matches: (path) => path.endsWith('/chat/completions'),
  look,
  say,
  call,
  error: ({ type, message, fields }) => ({ error: { message, type, param: null, code: type, ...fields } }),
};

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

function look({ body }) {
  const messages = body.messages ?? [];
  const users = messages.filter(({ role }) => role === 'user').map(({ content }) => userTextOf(textsOf(content)));
  const last = messages.at(-1);
  return {
    userTexts: users.filter((text) => text !== undefined),
    toolOutput: last?.role === 'tool' ? textsOf(last.content).join('') : null,
    tools: (body.tools ?? []).map((tool) => ({ name: tool.function?.name ?? '', schema: tool.function?.parameters })),
    // Titles, summaries, checks: what a CLI asks for itself has no tools.
    side: (body.tools ?? []).length === 0 ? { text: body.response_format ? '{}' : 'A short title' } : undefined,
  };
}

function textsOf(content) {
  if (typeof content === 'string') return [content];
  return (content ?? []).map((part) => part.text ?? '');
}

function say({ response, body }, text, broken) {
  if (body.stream !== true) {
    return sendWhole(response, whole(body, { role: 'assistant', content: text }, 'stop'), broken);
  }
  const chunk = open(response, body);
  for (const content of piecesOf(text)) {
    chunk({ content });
    if (broken) return breakOff(response, broken);
  }
  chunk({}, 'stop');
  finish(response, body, chunk);
}

function call({ response, body }, calls) {
  const tool_calls = calls.map(({ name, args }) => ({
    id: makeId('call'),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  if (body.stream !== true) {
    return sendWhole(response, whole(body, { role: 'assistant', content: null, tool_calls }, 'tool_calls'));
  }
  const chunk = open(response, body);
  for (const [index, one] of tool_calls.entries()) chunk({ tool_calls: [{ index, ...one }] });
  chunk({}, 'tool_calls');
  finish(response, body, chunk);
}

function whole(body, message, finish_reason) {
  return { ...baseOf(body, 'chat.completion'), choices: [{ index: 0, message, finish_reason }], usage };
}

function open(response, body) {
  const base = baseOf(body, 'chat.completion.chunk');
  openStream(response);
  const chunk = (delta, finish_reason = null) => {
    sendEvent(response, { ...base, choices: [{ index: 0, delta, finish_reason }] });
  };
  chunk({ role: 'assistant', content: '' });
  chunk.base = base;
  return chunk;
}

/** The numbers come in a chunk of their own, and only for clients that ask. */
function finish(response, body, { base }) {
  if (body.stream_options?.include_usage) sendEvent(response, { ...base, choices: [], usage });
  sendEvent(response, '[DONE]');
  response.end();
}

function baseOf({ model }, object) {
  return { id: makeId('chatcmpl'), object, created: 0, model };
}
