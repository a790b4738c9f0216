// One question over http against a server that does all it can to be a bad one: each answer in its word, within its time, and no
// connection left afterwards.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { askHttp, type HttpAnswer, type HttpCall } from '../../companion/src/platform/http.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { type BadServer, type BadServerOptions, startBadServer } from '../lab/http/bad-server.ts';
import { makeCertificate } from '../lab/http/certificate.ts';

const mib = 1024 * 1024;

async function serve(t: TestContext, options?: BadServerOptions): Promise<BadServer> {
  const server = await startBadServer(options);
  t.after(() => server.close());
  return server;
}

function ask(url: string, over: Partial<HttpCall> = {}): Promise<HttpAnswer> {
  const call = { url, headers: {}, timeoutMs: 30_000, isFinal: () => false, plan: () => ({ keep: mib, digest: 0 }) };
  return askHttp({ ...call, ...over });
}

async function failure(url: string, over: Partial<HttpCall> = {}): Promise<string> {
  const answer = await ask(url, over);
  return answer.how === 'failed' ? `${answer.cause}: ${answer.message}` : `answered ${answer.head.status}`;
}

async function answered(url: string, over: Partial<HttpCall> = {}) {
  const answer = await ask(url, over);
  if (answer.how !== 'answered') throw new Error(answer.message);
  return answer;
}

test('a plain answer comes whole, and its connection is closed', async (t) => {
  const server = await serve(t);
  const { head, body } = await answered(`${server.origin}/ok`);
  assert.equal(head.status, 200);
  assert.equal(body.bytes.toString(), 'all is well\nstatus: ready\n');
  assert.deepEqual([body.size, body.wasCut, body.sha256], [26, false, null]);
  await eventually('the connection to be closed', () => server.open() === 0);
  const sent = server.headers();
  assert.equal(sent.connection, 'close');
  assert.equal(sent['accept-encoding'], 'identity');
  assert.match(sent['user-agent'] ?? '', /^job-companion\/\d/);
});

test('nothing of a body is read when nothing is wanted, however long it is', async (t) => {
  const server = await serve(t);
  const { head, body } = await answered(`${server.origin}/endless`, { plan: () => ({ keep: 0, digest: 0 }) });
  assert.deepEqual([head.status, body.size], [200, null]);
  await eventually('the connection to be closed', () => server.open() === 0);
});

test('of an endless body the beginning is kept and the rest let go', async (t) => {
  const server = await serve(t);
  const { body } = await answered(`${server.origin}/endless`, { plan: () => ({ keep: 1000, digest: 0 }) });
  assert.deepEqual([body.bytes.length, body.wasCut, body.sha256], [1000, true, null]);
  await eventually('the connection to be closed', () => server.open() === 0);
});

test('a digest is of the whole body, and of nothing that is longer than the limit', async (t) => {
  const server = await serve(t);
  const whole = await answered(`${server.origin}/ok`, { plan: () => ({ keep: 0, digest: mib }) });
  assert.equal(whole.body.sha256, sha256Of('all is well\nstatus: ready\n'));
  assert.deepEqual([whole.body.bytes.length, whole.body.size], [0, 26]);
  const both = await answered(`${server.origin}/ok`, { plan: () => ({ keep: 3, digest: mib }) });
  assert.deepEqual([both.body.bytes.toString(), both.body.sha256, both.body.wasCut], ['all', whole.body.sha256, true]);
  const endless = await answered(`${server.origin}/endless`, { plan: () => ({ keep: 0, digest: mib }) });
  assert.equal(endless.body.sha256, null);
});

const failures: [path: string, told: RegExp][] = [
  ['/reset', /^network: connection reset \(ECONNRESET\)$/],
  ['/reset-body', /^network: the body broke off after 11 B$/],
  ['/short', /^network: the body broke off after 11 B$/],
  ['/huge-headers', /^shape: its headers are too long$/],
  ['/garbage', /^shape: what came is no HTTP \(HPE_/],
  ['/circle', /^redirect: it redirects in a circle$/],
  ['/hop?left=5', /^redirect: it redirects more than 5 times$/],
  ['/to?url=file:///etc/passwd', /^redirect: it redirects to file:, and only http and https are followed$/],
  ['/to?url=http://user:pw@127.0.0.1/', /^redirect: it redirects to an address with a password in it$/],
  ['/to?url=http://[', /^redirect: it redirects to something that is no address$/],
];
for (const [path, told] of failures) {
  test(`${path} has no answer, and that is said`, async (t) => {
    const server = await serve(t);
    assert.match(await failure(`${server.origin}${path}`), told);
    await eventually('the connections to be closed', () => server.open() === 0);
  });
}

const slow: [path: string, told: RegExp][] = [
  ['/silent', /^timeout: no answer within 300ms$/],
  ['/slow-headers', /^timeout: no answer within 300ms$/],
  ['/slow-body', /^timeout: the body did not end within 300ms \(\d+ B read\)$/],
];
for (const [path, told] of slow) {
  test(`${path} ends by the time that was given, in the middle of whatever it does`, { timeout: 60_000 }, async (t) => {
    const server = await serve(t);
    assert.match(await failure(`${server.origin}${path}`, { timeoutMs: 300 }), told);
    await eventually('the connection to be closed', () => server.open() === 0);
  });
}

test('a chain of slow redirects has one time for all of it', { timeout: 60_000 }, async (t) => {
  const server = await serve(t, {
    act: ({ socket, count }) =>
      void setTimeout(() => socket.end(`HTTP/1.1 302 x\r\nlocation: /next${count}-${Math.random()}\r\n\r\n`), 150),
  });
  assert.match(await failure(`${server.origin}/`, { timeoutMs: 400 }), /^timeout: /);
});

test('who stops it gets an answer at once, and no connection stays', { timeout: 60_000 }, async (t) => {
  const server = await serve(t);
  const stopper = new AbortController();
  const told = failure(`${server.origin}/silent`, { signal: stopper.signal });
  await eventually('the request', () => server.count('/silent') === 1);
  stopper.abort();
  assert.match(await told, /^aborted: /);
  await eventually('the connection to be closed', () => server.open() === 0);
  assert.match(await failure(`${server.origin}/ok`, { signal: stopper.signal }), /^aborted: /);
});

test('five redirects are followed; where they led is told', async (t) => {
  const server = await serve(t);
  const { head } = await answered(`${server.origin}/hop?left=4`);
  assert.deepEqual([head.status, head.redirects, head.url.pathname, head.wasDowngraded], [200, 5, '/ok', false]);
});

test('a redirect that is waited for is an answer', async (t) => {
  const server = await serve(t);
  const { head } = await answered(`${server.origin}/hop?left=0`, { isFinal: (status) => status === 307 });
  assert.deepEqual([head.status, head.redirects], [307, 0]);
});

test('own headers go to the first origin and to no other', async (t) => {
  const [first, second] = [await serve(t), await serve(t)];
  const headers = { authorization: 'secret' };
  await answered(`${first.origin}/to?url=/headers`, { headers });
  assert.equal(first.headers().authorization, 'secret');
  await answered(`${first.origin}/to?url=${second.origin}/headers`, { headers });
  assert.equal(second.headers().authorization, undefined);
});

test('nobody listens: refused, in the word of the system', async () => {
  const server = await startBadServer();
  await server.close();
  assert.match(await failure(`${server.origin}/ok`), /^network: connection refused \(ECONNREFUSED\)$/);
  assert.match(await failure('http://no-such-host.invalid/'), /^(network: |timeout: )/);
});

test('an IPv6 address is asked as one', async (t) => {
  let server: BadServer;
  try {
    server = await serve(t, { host: '::1' });
  } catch {
    // A machine without IPv6 has nothing to ask; the brackets still have to be understood.
    assert.match(await failure('http://[::1]:9/'), /^network: /);
    return;
  }
  assert.equal((await answered(`${server.origin}/ok`)).head.status, 200);
});

test('more than a body promised is left alone', async (t) => {
  const server = await serve(t);
  const { body } = await answered(`${server.origin}/too-much`);
  assert.equal(body.bytes.toString(), 'good');
});

test('a certificate that nobody vouches for is named as the cause; the file of the caller makes it a good one', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const certificate = makeCertificate();
  const server = await serve(t, { tls: certificate });
  assert.match(
    await failure(`${server.origin}/ok`),
    /^certificate: its certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\); a CA of your own is named by NODE_EXTRA_CA_CERTS/,
  );
  const file = join(workspace.base, 'ca.pem');
  withExtraCa(t, file);
  assert.match(await failure(`${server.origin}/ok`), /^certificate: /, 'a file that is not there changes nothing');
  writeFileSync(file, 'no certificate');
  assert.match(await failure(`${server.origin}/ok`), /^certificate: /, 'a file of nonsense changes nothing');
  writeFileSync(file, certificate.cert);
  assert.equal((await answered(`${server.origin}/ok`)).head.status, 200);
  assert.equal((await answered(`https://localhost:${server.port}/ok`)).head.status, 200);
  const plain = await serve(t);
  const { head } = await answered(`${server.origin}/to?url=${plain.origin}/ok`);
  assert.equal(head.wasDowngraded, true);
});

test('an expired certificate is not a good one', async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const certificate = makeCertificate({ expired: true });
  const server = await serve(t, { tls: certificate });
  const file = join(workspace.base, 'ca.pem');
  writeFileSync(file, certificate.cert);
  withExtraCa(t, file);
  assert.equal(await failure(`${server.origin}/ok`), 'certificate: its certificate is not trusted (CERT_HAS_EXPIRED)');
});

test('a proxy that is set and not used is named where nothing answers', async (t) => {
  const closed = createServer();
  await new Promise<void>((listening) => closed.listen(0, '127.0.0.1', listening));
  const address = closed.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  await new Promise((done) => closed.close(done));
  setVariable(t, 'http_proxy', 'http://127.0.0.1:1');
  assert.match(await failure(`http://127.0.0.1:${port}/`), /asked directly, http_proxy is not used$/);
});

function withExtraCa(t: TestContext, file: string): void {
  setVariable(t, 'NODE_EXTRA_CA_CERTS', undefined);
  setVariable(t, 'JOB_COMPANION_EXTRA_CA_CERTS', file);
}

function setVariable(t: TestContext, variable: string, value: string | undefined): void {
  const before = process.env[variable];
  const put = (text: string | undefined): void => {
    if (text === undefined) delete process.env[variable];
    else process.env[variable] = text;
  };
  t.after(() => put(before));
  put(value);
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
