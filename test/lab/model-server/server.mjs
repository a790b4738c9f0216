// The HTTP part of the scripted model: finds the scenario (first path segment) and the wire (the rest of the path),
// asks the scenario what to answer and lets the wire say it. Knows no vendor's shapes and no scenario by name.
//
// A wire is one file that exports { name, matches(path), look({ body, path }), say(exchange, text, broken),
// call(exchange, calls), error(facts) } with exchange = { response, body, path }; to add one, write it and put it into
// `wires`. `look` gives { userTexts, toolOutput, tools: [{ name, schema }], side }: a request with `side` ({ json } or
// { text }) is one that a CLI makes for itself (title, quota, tokens); it gets that answer, whatever the scenario.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { chat } from './chat.mjs';
import { gemini } from './gemini.mjs';
import { messages } from './messages.mjs';
import { responses } from './responses.mjs';
import { digest, scenarios } from './scenarios.mjs';
import { sendJson } from './sse.mjs';
import { planCall } from './tools.mjs';

const wires = [responses, chat, messages, gemini];
const models = { object: 'list', data: [{ id: 'lab-model', object: 'model', created: 0, owned_by: 'lab' }] };

/**
 * Listens on a free port of 127.0.0.1. With `logFile`, every request is appended to it as one JSON line, and its newest
 * user text stands in a file of its own in the folder `LOGFILE.texts`.
 */
export async function startServer({ logFile } = {}) {
  let count = 0;
  const serve = async (request, response) => {
    const n = ++count;
    const { pathname } = new URL(request.url, 'http://127.0.0.1');
    const [, name, ...rest] = pathname.split('/');
    const path = `/${rest.join('/')}`;
    const wire = request.method === 'POST' ? wires.find((known) => known.matches(path)) : undefined;
    const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
    const text = await readBody(request);
    const exchange = { response, path, body: wire && JSON.parse(text) };
    const seen = wire?.look(exchange);
    if (logFile) writeNote(logFile, { n, request, name, wire, seen, body: exchange.body });
    if (request.method === 'GET' && path.endsWith('/models')) return sendJson(response, 200, models);
    if (!wire || !scenario) return sendJson(response, 404, { error: { message: `no such model: ${request.url}` } });
    if (seen.side?.json) return sendJson(response, 200, seen.side.json);
    answer(wire, exchange, seen.side ?? scenario(seen), seen);
  };
  // A client that was killed in the middle of its request must not take the server along.
  const http = createServer((request, response) => serve(request, response).catch(() => response.destroy()));
  await new Promise((listening, failed) => {
    http.once('error', failed);
    http.listen(0, '127.0.0.1', listening);
  });
  return {
    url: `http://127.0.0.1:${http.address().port}`,
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
}

/** `told` is what a scenario returns; see the head of scenarios.mjs for its forms. */
function answer(wire, exchange, told, { tools }) {
  if (told.status) return sendJson(exchange.response, told.status, wire.error(told), told.headers);
  const calls = (told.calls ?? []).map((ask) => planCall(tools, ask));
  if (calls.length > 0 && !calls.includes(null)) return wire.call(exchange, calls);
  return wire.say(exchange, told.text ?? '', told.broken);
}

function writeNote(logFile, { n, request, name, wire, seen, body }) {
  const last = seen?.userTexts.at(-1);
  const folder = `${logFile}.texts`;
  const file = join(folder, `${n}.txt`);
  if (last !== undefined) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, last);
  }
  const note = {
    n,
    method: request.method,
    url: request.url,
    scenario: name,
    wire: wire?.name ?? null,
    side: !wire || seen.side !== undefined,
    tools: seen?.tools.map((tool) => tool.name) ?? [],
    user_turns: seen?.userTexts.length ?? null,
    last_user: last === undefined ? null : digest(last),
    last_user_file: last === undefined ? null : file,
    body: body ?? null,
  };
  appendFileSync(logFile, `${JSON.stringify(note)}\n`);
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
