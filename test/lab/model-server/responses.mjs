// The OpenAI Responses wire, as far as agent CLIs need it: what a request shows, and answers as server-sent events.
// Facts about the shapes are from the vendor's API reference and from watching codex 0.171.0.

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

// Agent CLIs tell the model about the machine in messages of the user's role.
const machineContext = /^(?:<(?:environment_context|user_instructions|permissions|skills)\b|# AGENTS\.md instructions)/;

let serial = 0;
const makeId = (kind) => {
  serial += 1;
  return `${kind}_lab${String(serial).padStart(6, '0')}`;
};

/** @returns {{userTexts: string[], toolOutput: string | null}} */
function look(body) {
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
  const users = input.filter((item) => item.role === 'user').map((item) => textOf(item.content));
  const last = input.at(-1);
  const isToolResult = typeof last?.type === 'string' && last.type.endsWith('_call_output');
  return {
    userTexts: users.filter((text) => !machineContext.test(text)),
    toolOutput: isToolResult ? textOf(last.output) : null,
  };
}

function textOf(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? '');
  return content.map((part) => part.text ?? '').join('');
}

/** A final answer; with `broken` it stops after the first piece. */
function say(response, body, text, broken) {
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
  for (const delta of text.match(/.{1,12}/gsu) ?? []) {
    send('response.output_text.delta', { ...at, delta });
    if (broken === 'hang') return;
    if (broken === 'cut') return void setImmediate(() => response.destroy());
  }
  send('response.output_text.done', { ...at, text });
  send('response.content_part.done', { ...at, part: outputText(text) });
  finish(response, send, base, item);
}

/** A call of the first shell-like tool that the client declared. */
function call(response, body, command) {
  const tool = findShell(body.tools ?? []);
  if (!tool) return say(response, body, 'The client declared no shell tool.');
  const args = JSON.stringify(fill(tool, command));
  const item = {
    id: makeId('fc'),
    type: 'function_call',
    status: 'completed',
    call_id: makeId('call'),
    name: tool.name,
    arguments: args,
  };
  const { send, base } = open(response, body);
  send('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', arguments: '' } });
  send('response.function_call_arguments.delta', { item_id: item.id, output_index: 0, delta: args });
  send('response.function_call_arguments.done', { item_id: item.id, output_index: 0, arguments: args });
  finish(response, send, base, item);
}

function findShell(tools) {
  const names = ['exec_command', 'shell_command', 'shell', 'local_shell'];
  return names.map((name) => tools.find((tool) => tool.name === name)).find(Boolean);
}

function fill(tool, command) {
  const properties = tool.parameters?.properties ?? {};
  const key = ['cmd', 'command'].find((name) => name in properties) ?? 'command';
  const args = { [key]: properties[key]?.type === 'array' ? ['bash', '-c', command] : command };
  // Stay with a long command instead of coming back to the model while it runs.
  if ('yield_time_ms' in properties) args.yield_time_ms = 30_000;
  if ('timeout_ms' in properties) args.timeout_ms = 60_000;
  return args;
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
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`);
    sequence += 1;
  };
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  send('response.created', { response: base });
  return { send, base };
}

function finish(response, send, base, item) {
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', { response: { ...base, status: 'completed', output: [item], usage } });
  response.end();
}

function outputText(text) {
  return { type: 'output_text', text, annotations: [] };
}
