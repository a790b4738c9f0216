// What all wires share: how an answer goes over the socket, and ids. Knows no vendor's shapes.

/** Begins a stream of server-sent events. */
export function openStream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
}

/** One event; `name` for the wires that name theirs. */
export function sendEvent(response, data, name) {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
}

export function sendJson(response, status, value, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** Short pieces, so that every answer comes in several. */
export function piecesOf(text) {
  return text.match(/.{1,12}/gsu) ?? [];
}

/** The end of an answer that never gets whole: silence, or a destroyed socket. */
export function breakOff(response, broken) {
  if (broken === 'cut') setImmediate(() => response.destroy());
}

/** For answers that are no stream: one that is broken has sent its beginning (`{`) and nothing else. */
export function sendWhole(response, value, broken) {
  if (!broken) return sendJson(response, 200, value);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{');
  breakOff(response, broken);
}

let serial = 0;

export function makeId(kind) {
  serial += 1;
  return `${kind}_lab${String(serial).padStart(6, '0')}`;
}

// Agent CLIs tell the model about the machine in messages (or parts of them) of the user's role.
const machineContext =
  /^\s*(?:<(?:environment_context|user_instructions|permissions|skills|system-reminder|session_context)\b|# AGENTS\.md instructions|This is the (?:Gemini CLI|Qwen Code)\b)/;

/** What the user said in one message, given the texts of its parts; undefined when it holds only what the CLI added. */
export function userTextOf(texts) {
  const told = texts.filter((text) => text !== '' && !machineContext.test(text));
  return told.length > 0 ? told.join('\n') : undefined;
}
