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
import { digest, plainText, toolCommand, toolText, twoCommands, writtenText } from '../lab/model-server/scenarios.mjs';
import { wireClients } from '../lab/wire-clients.mjs';

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

  const [first, ...rest] = readLog(log);
  assert.deepEqual([first.scenario, first.wire, first.user_turns], ['text', 'responses', 1]);
  assert.deepEqual(first.last_user, digest('Gr\u00fc\u00dfe'));
  assert.deepEqual(first.last_user.bytes, 7);
  assert.equal(readFileSync(first.last_user_file, 'utf8'), 'Gr\u00fc\u00dfe');
  assert.equal(rest.length, 3);
});

for (const wire of wireClients) {
  for (const isStream of [true, false]) {
    test(`the lab model speaks ${wire.name}, ${isStream ? 'streaming' : 'whole'}`, async (t) => {
      const { url, log } = await startServer(t);
      const ask = async (scenario: string, turn: { text?: string; result?: string; tools?: string[] } = {}) => {
        const body = wire.body({ text: 'Hello.', result: undefined, tools: ['read', 'bash'], ...turn }, isStream);
        const response = await post(`${url}/${scenario}/${wire.path(isStream)}`, body);
        assert.equal(response.status, 200);
        return wire.read(await partsOf(response));
      };
      const call = (command: string) => ({ name: 'bash', args: { command, why: 'of the lab' } });
      assert.deepEqual(await ask('text'), { text: plainText, calls: [] });
      assert.deepEqual(await ask('empty'), { text: '', calls: [] });
      assert.deepEqual(await ask('tool'), { text: '', calls: [call(toolCommand)] });
      assert.deepEqual(await ask('tool', { result: 'x' }), { text: toolText, calls: [] });
      assert.deepEqual(await ask('shell', { result: 'gone' }), { text: 'The tool printed: gone', calls: [] });
      assert.deepEqual(await ask('twotools'), { text: '', calls: twoCommands.map(call) });
      // The companion wraps a task; words for the scenario are found in it all the same.
      const text = '<task>\nfile: /a b\nanswer: "1\\n2"\n</task>\nEnd.';
      const file = { name: 'Write', args: { file_path: '/a b', content: writtenText } };
      const tools = ['Write', 'bash'];
      assert.match((await ask('write', { text, tools })).calls[0]?.args.command ?? '', / > '\/a b'$/);
      assert.deepEqual((await ask('write', { text, tools: ['Write'] })).calls, [file]);
      assert.deepEqual((await ask('writefile', { text, tools })).calls, [file]);
      assert.deepEqual((await ask('denied', { text: `${text}\nby: file`, tools })).calls, [file]);
      assert.deepEqual((await ask('denied', { text, tools: ['read'] })).calls, []);
      assert.equal((await ask('findings', { text })).text, '1\n2');
      // What a client asks for itself is answered, whatever the scenario, and is no turn.
      for (const scenario of ['tool', 'e401', 'hang']) assert.match((await ask(scenario, { tools: [] })).text, /title/);

      const requests = readLog(log);
      assert.deepEqual(
        requests.filter(({ side }) => side).map(({ scenario }) => scenario),
        ['tool', 'e401', 'hang'],
      );
      assert.ok(requests.every((row) => row.wire === wire.name && row.user_turns === 1));
      assert.deepEqual(requests[0].tools, ['read', 'bash']);
      assert.equal(readFileSync(requests.at(-4).last_user_file, 'utf8'), text);
    });

    test(`the lab model fails on ${wire.name}, ${isStream ? 'streaming' : 'whole'}`, async (t) => {
      const { url } = await startServer(t);
      const body = wire.body({ text: 'Hello.', result: undefined, tools: ['bash'] }, isStream);
      const refused = await post(`${url}/e429/${wire.path(isStream)}`, body);
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1']);
      assert.match(JSON.stringify(await refused.json()), /"error":\{.*Rate limit reached/);
      const cut = await post(`${url}/cut/${wire.path(isStream)}`, body);
      await assert.rejects(cut.text());
    });
  }
}

test('the lab model counts tokens and lists its models', async (t) => {
  const { url, log } = await startServer(t);
  const counts: [path: string, reply: unknown][] = [
    ['v1/messages/count_tokens', { input_tokens: 100 }],
    ['v1beta/models/m:countTokens', { totalTokens: 120 }],
  ];
  for (const [path, reply] of counts) {
    assert.deepEqual(await (await post(`${url}/hang/${path}`, { tools: [{ name: 'x' }] })).json(), reply);
  }
  assert.match(await (await fetch(`${url}/text/v1/models`)).text(), /"id":"lab-model"/);
  assert.deepEqual(
    readLog(log).map(({ side }) => side),
    [true, true, true],
  );
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

/** The whole answer, or the data of its events. */
async function partsOf(response: Response): Promise<unknown[]> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.includes('event-stream')) return [JSON.parse(text)];
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, found]) => found ?? '');
  return data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one));
}

function readLog(log: string) {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
