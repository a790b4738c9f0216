// The HTTP part of the scripted model: finds the scenario (first path segment) and the wire (the rest of the path),
// asks the scenario what to answer and lets the wire say it. Knows no vendor's shapes and no scenario by name.
//
// A wire is one file that exports { name, matches(path), look(body), say(response, body, text, broken),
// call(response, body, command), error(facts) }; to add one, write it and put it into `wires`.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { responses } from './responses.mjs';
import { digest, scenarios } from './scenarios.mjs';

const wires = [responses];

/** Listens on a free port of 127.0.0.1. With `logFile`, every request is appended to it as one JSON line. */
export async function startServer({ logFile } = {}) {
  let count = 0;
  const serve = async (request, response) => {
    const n = ++count;
    const [, name, ...rest] = new URL(request.url, 'http://127.0.0.1').pathname.split('/');
    const wire = request.method === 'POST' ? wires.find((known) => known.matches(`/${rest.join('/')}`)) : undefined;
    const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
    const text = await readBody(request);
    const body = wire && JSON.parse(text);
    const look = wire?.look(body);
    if (logFile) appendFileSync(logFile, `${JSON.stringify(note(n, request, name, wire, look, body))}\n`);
    if (!wire || !scenario) return sendJson(response, 404, { error: { message: `no such model: ${request.url}` } });
    answer(wire, response, body, scenario(look));
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

/** `answer` is what a scenario returns; see the head of scenarios.mjs for its forms. */
function answer(wire, response, body, { text = '', command, status, type, message, headers, fields, broken }) {
  if (status) return sendJson(response, status, wire.error({ type, message, fields }), headers);
  if (command !== undefined) return wire.call(response, body, command);
  return wire.say(response, body, text, broken);
}

function note(n, request, scenario, wire, look, body) {
  const last = look?.userTexts.at(-1);
  return {
    n,
    method: request.method,
    url: request.url,
    scenario,
    wire: wire?.name ?? null,
    user_turns: look?.userTexts.length ?? null,
    last_user: last === undefined ? null : digest(last),
    body: body ?? null,
  };
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function sendJson(response, status, value, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}
