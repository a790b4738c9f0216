/**
 * The scripted model that stands behind the agents of the lab: only on loopback, gone with its test, and it tells what it
 * was asked. What it says to an agent is proved by the agents themselves (codex-direct.test.ts).
 */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { makeWorkspace } from '../helpers/workspace.ts';
import { digest, plainText } from '../lab/model-server/scenarios.mjs';

const program = join(import.meta.dirname, '../lab/model-server.mjs');
const ends: [how: string, end: (child: ChildProcessWithoutNullStreams) => unknown][] = [
  ['SIGTERM', (child) => child.kill()],
  ['the end of its stdin', (child) => child.stdin.end()],
];

for (const [how, end] of ends) {
  test(`the lab model ends by ${how}, also in the middle of an answer`, async (t) => {
    const { child, url, ended } = await startServer(t);
    const hanging = await post(`${url}/hang/v1/responses`, { input: 'x', stream: true });
    const body = hanging.text();
    body.catch(() => {});
    end(child);
    assert.equal(await ended, 0);
    await assert.rejects(body);
  });
}

test('the lab model listens on loopback only', async (t) => {
  const port = Number(new URL((await startServer(t)).url).port);
  assert.equal(await canConnect('127.0.0.1', port), true);
  const outside = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  for (const { address } of outside.filter(({ internal, family }) => !internal && family === 'IPv4')) {
    assert.equal(await canConnect(address, port), false, address);
  }
});

test('the lab model answers by scenario and writes down what it was asked', async (t) => {
  const { url, log } = await startServer(t);
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: '<environment_context>x</environment_context>' }] },
    { role: 'user', content: [{ type: 'input_text', text: 'Gr\u00fc\u00dfe' }] },
  ];
  const answer = await (await post(`${url}/text/v1/responses`, { input, stream: true })).text();
  const events = answer.split('\n\n').filter((event) => event !== '');
  assert.match(events.at(-1) ?? '', /^event: response\.completed\ndata: \{/);
  const deltas = events.filter((event) => event.startsWith('event: response.output_text.delta'));
  assert.ok(deltas.length > 1);
  assert.equal(deltas.map((event) => JSON.parse(event.split('data: ')[1] ?? '').delta).join(''), plainText);

  const refused = await post(`${url}/e401/v1/responses`, { input: 'x' });
  assert.equal(refused.status, 401);
  assert.equal((await post(`${url}/no-such/v1/responses`, { input: 'x' })).status, 404);
  assert.equal((await post(`${url}/text/v1/no-such`, { input: 'x' })).status, 404);

  const [first, ...rest] = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual([first.scenario, first.wire, first.user_turns], ['text', 'responses', 1]);
  assert.deepEqual(first.last_user, digest('Gr\u00fc\u00dfe'));
  assert.deepEqual(first.last_user.bytes, 7);
  assert.equal(rest.length, 3);
});

async function startServer(t: TestContext) {
  const workspace = makeWorkspace(t, { git: false });
  const log = join(workspace.base, 'requests.ndjson');
  const child = spawn(process.execPath, [program, '--log', log], { env: workspace.env, stdio: 'pipe' });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  workspace.defer(() => {
    child.kill();
    return ended;
  });
  const [line] = await new Promise<[Buffer]>((resolve) => child.stdout.once('data', (data: Buffer) => resolve([data])));
  const url: string = JSON.parse(line.toString()).listening;
  return { child, url, ended, log };
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', body: JSON.stringify(body) });
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
