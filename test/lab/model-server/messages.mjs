// The Anthropic Messages wire, streaming and not, and its token count. Facts about the shapes are from the vendor's API
// reference and from watching claude 2.1.
import { breakOff, makeId, openStream, piecesOf, sendEvent, sendWhole, userTextOf } from './sse.mjs';

export const messages = {
  name: 'messages',
  matches: (path) => /\/messages(?:\/count_tokens)?$/.test(path),
  look,
  say,
  call,
  error: ({ status, message }) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? 'api_error', message },
    request_id: makeId('req'),
  }),
};

const errorTypes = { 400: 'invalid_request_error', 401: 'authentication_error', 429: 'rate_limit_error' };
const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

function look({ body, path }) {
  const all = body.messages ?? [];
  const users = all.filter(({ role }) => role === 'user').map(({ content }) => userTextOf(textsOf(content)));
  const result = partsOf(all.at(-1)?.content).findLast((part) => part.type === 'tool_result');
  return {
    userTexts: users.filter((text) => text !== undefined),
    toolOutput: result ? textsOf(result.content).join('') : null,
    tools: (body.tools ?? []).map((tool) => ({ name: tool.name, schema: tool.input_schema })),
    side: sideOf(body, path),
  };
}

/** What a CLI asks for itself (titles, a look at the quota) has no tools. */
function sideOf(body, path) {
  if (path.endsWith('/count_tokens')) return { json: { input_tokens: usage.input_tokens } };
  if ((body.tools ?? []).length > 0) return undefined;
  return { text: body.output_config?.format || body.output_format ? '{"title":"A short title"}' : 'A short title' };
}

function partsOf(content) {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
}

function textsOf(content) {
  return partsOf(content)
    .filter((part) => part.type === 'text')
    .map((part) => part.text);
}

function say(exchange, text, broken) {
  send(exchange, [{ type: 'text', text }], 'end_turn', broken);
}

function call(exchange, calls) {
  const blocks = calls.map(({ name, args }) => ({ type: 'tool_use', id: makeId('toolu'), name, input: args }));
  send(exchange, blocks, 'tool_use');
}

function send({ response, body }, content, stop_reason, broken) {
  const message = {
    id: makeId('msg'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  if (body.stream !== true) return sendWhole(response, { ...message, content, stop_reason, usage }, broken);
  openStream(response);
  const event = (data) => sendEvent(response, data, data.type);
  event({ type: 'message_start', message });
  for (const [index, block] of content.entries()) {
    const [empty, deltas] = shapesOf(block);
    event({ type: 'content_block_start', index, content_block: empty });
    for (const delta of deltas) {
      event({ type: 'content_block_delta', index, delta });
      if (broken) return breakOff(response, broken);
    }
    event({ type: 'content_block_stop', index });
  }
  event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage });
  event({ type: 'message_stop' });
  response.end();
}

/** How a block begins, and what is added to it. */
function shapesOf(block) {
  if (block.type === 'tool_use') {
    return [{ ...block, input: {} }, [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]];
  }
  return [{ type: 'text', text: '' }, piecesOf(block.text).map((text) => ({ type: 'text_delta', text }))];
}
