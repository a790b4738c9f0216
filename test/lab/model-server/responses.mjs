// The OpenAI Responses wire, as far as agent CLIs need it: what a request shows, and answers as server-sent events.
// Facts about the shapes are from the vendor's API reference and from watching codex 0.171.0.
import { breakOff, makeId, openStream, piecesOf, sendEvent, userTextOf } from './sse.mjs';

export const responses = {
  name: 'responses',
  matches: (path) => path.endsWith('/responses'),
  look,
  say,
  call,
  error: ({ type, message, fields }) => ({ error: { type, message, code: type, param: null, ...fields } }),
};

const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};

function look({ body }) {
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
  const users = input.filter((item) => item.role === 'user').map((item) => userTextOf(textsOf(item.content)));
  const last = input.at(-1);
  const isToolResult = typeof last?.type === 'string' && last.type.endsWith('_call_output');
  return {
    userTexts: users.filter((text) => text !== undefined),
    toolOutput: isToolResult ? textsOf(last.output).join('') : null,
    tools: (body.tools ?? []).map((tool) => ({ name: tool.name ?? tool.type, schema: tool.parameters })),
  };
}

function textsOf(content) {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [JSON.stringify(content ?? '')];
  return content.map((part) => part.text ?? '');
}

/** A final answer; with `broken` it stops after the first piece. */
function say({ response, body }, text, broken) {
  const item = {
    id: makeId('msg'),
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [outputText(text)],
  };
  const { send, base } = open(response, body);
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  send('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } });
  send('response.content_part.added', { ...at, part: outputText('') });
  for (const delta of piecesOf(text)) {
    send('response.output_text.delta', { ...at, delta });
    if (broken) return breakOff(response, broken);
  }
  send('response.output_text.done', { ...at, text });
  send('response.content_part.done', { ...at, part: outputText(text) });
  send('response.output_item.done', { output_index: 0, item });
  finish(response, send, base, [item]);
}

function call({ response, body }, calls) {
  const { send, base } = open(response, body);
  const items = calls.map(({ name, args }) => ({
    id: makeId('fc'),
    type: 'function_call',
    status: 'completed',
    call_id: makeId('call'),
    name,
    arguments: JSON.stringify(args),
  }));
  for (const [output_index, item] of items.entries()) {
    const at = { item_id: item.id, output_index };
    send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } });
    send('response.function_call_arguments.delta', { ...at, delta: item.arguments });
    send('response.function_call_arguments.done', { ...at, arguments: item.arguments });
    send('response.output_item.done', { output_index, item });
  }
  finish(response, send, base, items);
}

function open(response, body) {
  const base = {
    id: makeId('resp'),
    object: 'response',
    created_at: 0,
    model: body.model,
    status: 'in_progress',
    output: [],
  };
  let sequence = 0;
  const send = (type, fields) => {
    sendEvent(response, { type, sequence_number: sequence, ...fields }, type);
    sequence += 1;
  };
  openStream(response);
  send('response.created', { response: base });
  return { send, base };
}

function finish(response, send, base, output) {
  send('response.completed', { response: { ...base, status: 'completed', output, usage } });
  response.end();
}

function outputText(text) {
  return { type: 'output_text', text, annotations: [] };
}
