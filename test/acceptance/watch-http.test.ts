/**
 * `watch http` on the built file, against a server that is slow, endless, cut off or confused: the clock ends it, whatever the server does;
 * what is over is over; and no connection, process or secret is left anywhere.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { type RunOptions, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, killNow } from '../helpers/jobs.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { type BadServer, type BadServerOptions, startBadServer } from '../lab/http/bad-server.ts';
import { makeCertificate } from '../lab/http/certificate.ts';

async function makePlace(
  t: TestContext,
  options?: BadServerOptions,
): Promise<{ workspace: Workspace; server: BadServer }> {
  const workspace = makeWorkspace(t);
  const server = await startBadServer(options);
  workspace.defer(() => server.close());
  return { workspace, server };
}

async function watch(workspace: Workspace, words: string[], options?: RunOptions): Promise<Job> {
  const result = await run(workspace, ['watch', 'http', ...words, '--id-only'], options);
  assert.equal(result.code, 0, result.stderr);
  return findJob(workspace, result.stdout.trim());
}

const lastMs = (state: JobState) => Date.parse(state.ended_at ?? '') - Date.parse(state.created_at);

test('against each bad server it ends by its bound, by the clock', { timeout: 300_000 }, async (t) => {
  const { workspace, server } = await makePlace(t);
  const bad: [path: string, cause: RegExp, args?: string[]][] = [
    ['/silent', /no answer within/],
    ['/slow-headers', /no answer within/],
    ['/slow-body', /the body did not end within/, ['--contains', 'x']],
    ['/endless', /the body did not end within|no "x" in it|no digest/, ['--sha256', '0'.repeat(64)]],
    ['/reset', /connection reset/],
    ['/circle', /redirects in a circle/],
    ['/huge-headers', /headers are too long/],
    ['/busy', /: 503 /],
  ];
  const jobs = [];
  for (const [path, cause, args = []] of bad) {
    const words = [`${server.origin}${path}`, ...args, '--for', '4s', '--every', '5s', '--attempt-timeout', '700ms'];
    jobs.push({ path, cause, job: await watch(workspace, words) });
  }
  for (const { path, cause, job } of jobs) {
    const waited = await run(workspace, ['wait', job.id, '--timeout', '3m'], { limitMs: 200_000 });
    const state = job.state();
    assert.deepEqual([waited.code, state.state, state.error?.code], [3, 'timed_out', 'watch_expired'], path);
    assert.match(state.error?.message ?? '', cause, path);
    assert.ok(lastMs(state) >= 4_000, `${path} ended after ${lastMs(state)} ms`);
    assert.ok((state.watch?.polls ?? 0) <= 2, `${path}: ${state.watch?.polls} looks in 4 s`);
  }
  await eventually('no connection to be open', () => server.open() === 0);
});

test('a server that recovers is met; what was in the way is told once, and that it is over', {
  timeout: 120_000,
}, async (t) => {
  const { workspace, server } = await makePlace(t);
  const job = await watch(workspace, [`${server.origin}/broken?good-after=2`, '--for', '2m', '--every', '5s']);
  const waited = await run(workspace, ['wait', job.id, '--timeout', '110s'], { limitMs: 115_000 });
  assert.equal(waited.code, 0, waited.stderr);
  const told = job.events().filter(({ type }) => ['trouble', 'recovered', 'news'].includes(type));
  assert.deepEqual(
    told.map(({ type, cause, after, verdict }) => [type, cause ?? null, after ?? verdict ?? null]),
    [
      ['trouble', 'server', null],
      ['recovered', 'server', 2],
      ['news', null, 'met'],
    ],
  );
  assert.equal(job.state().watch?.polls, 3);
});

test('Retry-After is honoured: it is not asked again before', { timeout: 120_000 }, async (t) => {
  const { workspace, server } = await makePlace(t);
  const job = await watch(workspace, [`${server.origin}/busy?good-after=1`, '--for', '2m', '--every', '5s']);
  await eventually('the trouble', () => job.has('events.ndjson') && job.events('trouble').length === 1, {
    limitMs: 30_000,
  });
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '100s'], { limitMs: 110_000 })).code, 0);
  const [trouble, news] = [job.events('trouble')[0], job.events('news')[0]];
  const pause = Date.parse(String(news?.at)) - Date.parse(String(trouble?.at));
  // Seven seconds, by the clocks of two processes.
  assert.ok(pause >= 6_900, `asked again after ${pause} ms`);
});

test('a login that is refused ends it at once, and says so', { timeout: 60_000 }, async (t) => {
  const { workspace, server } = await makePlace(t);
  const job = await watch(workspace, [`${server.origin}/login`, '--for', '1h']);
  const waited = await run(workspace, ['wait', job.id, '--timeout', '50s']);
  assert.deepEqual([waited.code, job.state().error?.code], [3, 'watch_error']);
  assert.match(job.state().error?.message ?? '', /: 401 .*the login is refused/);
});

test('a worker trusts the certificates that its caller trusts, though it starts without the variable', async (t) => {
  const certificate = makeCertificate();
  const { workspace, server } = await makePlace(t, { tls: certificate });
  const file = join(workspace.base, 'ca.pem');
  writeFileSync(file, certificate.cert);
  const words = [`${server.origin}/ok`, '--for', '1m', '--tolerate', '0'];
  const without = await watch(workspace, words);
  assert.equal((await run(workspace, ['wait', without.id, '--timeout', '50s'])).code, 3);
  assert.match(without.state().error?.message ?? '', /its certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
  // A relative name counts from where the caller stands.
  for (const named of [file, '../ca.pem']) {
    const env = { NODE_EXTRA_CA_CERTS: named, PWD: workspace.dir };
    const job = await watch(workspace, words, { env });
    assert.equal((await run(workspace, ['wait', job.id, '--timeout', '50s'])).code, 0, named);
    assert.equal((await run(workspace, ['watch', 'http', `${server.origin}/ok`, '--once'], { env })).code, 0);
  }
});

test('the baseline of --changed outlives the worker', { timeout: 120_000 }, async (t) => {
  let text = 'old';
  const { workspace, server } = await makePlace(t, {
    act: ({ socket }) => socket.end(`HTTP/1.1 200 x\r\n\r\n${text}`),
  });
  const job = await watch(workspace, [`${server.origin}/`, '--changed', '--for', '2m', '--every', '5s']);
  await eventually('the first look', () => job.has('events.ndjson') && job.events('news').length === 1, {
    limitMs: 30_000,
  });
  await killNow('the worker', job.identity('worker'));
  text = 'new';
  const waited = await run(workspace, ['wait', job.id, '--timeout', '110s'], { limitMs: 115_000 });
  assert.equal(waited.code, 0, waited.stderr);
  assert.deepEqual(
    job.events('news').map(({ word, verdict }) => `${word} ${verdict}`),
    ['armed pending', 'changed met'],
  );
});

test('a secret header is in no file and no list of processes; a query is in the spec alone', {
  timeout: 60_000,
}, async (t) => {
  const { workspace, server } = await makePlace(t);
  const secret = 'Bearer hunter2hunter2';
  const words = [`${server.origin}/missing?key=opensesame`, '--header-env', 'Authorization=MY_AUTH', '--for', '2s'];
  const job = await watch(workspace, words, { env: { MY_AUTH: secret } });
  assert.equal((await run(workspace, ['wait', job.id, '--timeout', '50s'])).code, 3);
  assert.equal(server.headers().authorization, secret);
  const holders = (text: string) =>
    (readdirSync(job.folder, { recursive: true }) as string[])
      .filter((file) => /\.\w+$/.test(file) && !file.endsWith('.fifo'))
      .filter((file) => readFileSync(job.path(file), 'utf8').includes(text));
  assert.deepEqual(holders('hunter2'), []);
  assert.deepEqual(holders('opensesame'), ['spec.json']);
  const input = job.json<Spec>('spec.json').watch?.input;
  assert.deepEqual(input?.headers, { fixed: {}, fromEnvironment: { authorization: 'MY_AUTH' } });
  for (const verb of ['status', 'observe', 'result']) {
    const { stdout, stderr } = await run(workspace, [verb, job.id]);
    assert.ok(!/opensesame|hunter2/.test(stdout + stderr), verb);
  }
});

const refused: [args: string[], told: RegExp][] = [
  [['localhost:8080'], /does not begin with http:\/\/ or https:\/\//],
  [['http://127.0.0.1:70000/'], /host or port cannot be read/],
  [['http://me:pw@127.0.0.1/'], /name or password in it/],
  [['http://127.0.0.1/', '--status', 'ok'], /no status/],
  [['http://127.0.0.1/', '--matches', '('], /no regular expression/],
  [['http://127.0.0.1/', '--sha256', 'abc'], /64 hex digits/],
  [['http://127.0.0.1/', '--every', '1s'], /out of range; allowed: 5s/],
];
for (const [args, told] of refused) {
  test(`refused, and nothing is made: ${args.join(' ')}`, async (t) => {
    const workspace = makeWorkspace(t);
    const result = await run(workspace, ['watch', 'http', ...args, '--for', '1m']);
    assert.equal(result.code, 1);
    assert.match(result.stderr, told);
    assert.deepEqual(readdirSync(workspace.dir).sort(), ['.git', 'README.md']);
  });
}
