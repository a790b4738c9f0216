// Looks at a real server on loopback: which answers are a verdict, which are trouble, which end the watch, and what is news.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { http } from '../../companion/src/watches/http.ts';
import type { Cursor } from '../../companion/src/watches/watch.ts';
import { type BadServer, type BadServerOptions, startBadServer } from '../lab/http/bad-server.ts';
import { look, lookOnce, makeTools, readWords, type ToolsOptions } from './tools.ts';

async function serve(t: TestContext, options?: BadServerOptions): Promise<BadServer> {
  const server = await startBadServer(options);
  t.after(() => server.close());
  return server;
}

const text = 'all is well\nstatus: ready\n';
const textDigest = createHash('sha256').update(text).digest('hex');

const verdicts: [path: string, args: string[], verdict: string, evidence: RegExp][] = [
  ['/ok', [], 'met', /^GET http:\/\/127\.0\.0\.1:\d+\/ok: 200 \(26 B, text\/plain\)$/],
  ['/missing', [], 'pending', /^GET http:\/\/127\.0\.0\.1:\d+\/missing: 404 \(21 B, application\/json\)$/],
  ['/gone', [], 'pending', /: 410 /],
  ['/gone', ['--fail-status', '410'], 'failed', /: 410 /],
  ['/missing', ['--status', '404'], 'met', /: 404 /],
  ['/ok', ['--status', '404'], 'pending', /: 200 /],
  ['/ok', ['--status', '201,2xx'], 'met', /: 200 /],
  ['/moved-nowhere', [], 'pending', /: 304 /],
  // What would be trouble or a refused login is a look when the caller has named it.
  ['/busy', ['--status', '503'], 'met', /: 503 /],
  ['/busy', ['--pending-status', '503'], 'pending', /: 503 /],
  ['/broken', ['--fail-status', '5xx'], 'failed', /: 500 /],
  ['/login', ['--status', '401'], 'met', /: 401 /],
  ['/forbidden', ['--pending-status', '403'], 'pending', /: 403 /],
  // Redirects.
  ['/hop?left=2', [], 'met', /\/hop\?\.\.\.: 200 \(26 B, text\/plain\) at http:\/\/127\.0\.0\.1:\d+\/ok$/],
  ['/hop?left=0', ['--status', '3xx'], 'met', /: 307 /],
  // Texts.
  ['/ok', ['--contains', 'ready'], 'met', /: 200 \(26 B, text\/plain\)$/],
  ['/ok', ['--contains', 'Ready'], 'pending', /; no "Ready" in it$/],
  ['/missing', ['--contains', 'not found'], 'pending', /: 404 /],
  ['/missing', ['--contains', 'not found', '--status', '404'], 'met', /: 404 /],
  ['/ok', ['--matches', '^status: \\w+$'], 'met', /: 200 /],
  ['/ok', ['--matches', '^ready'], 'pending', /; nothing in it matches "\^ready"$/],
  ['/ok', ['--contains', 'well', '--matches', 'nothing'], 'pending', /nothing in it matches/],
  ['/json', ['--field', 'parts.0.ok=true'], 'met', /; parts\.0\.ok is true$/],
  ['/json', ['--field', 'parts.0.size=3'], 'met', /; parts\.0\.size is 3$/],
  ['/json', ['--field', 'n=null'], 'met', /; n is null$/],
  ['/json', ['--field', 'status=ready'], 'pending', /; status is building$/],
  ['/json', ['--field', 'parts.1.ok=true'], 'pending', /; there is no parts\.1 in it$/],
  ['/json', ['--field', '__proto__.x=1'], 'pending', /; there is no __proto__ in it$/],
  ['/ok', ['--field', 'status=ready'], 'pending', /; it is no JSON$/],
  ['/endless', ['--contains', 'no such text'], 'pending', /; no "no such text" in it \(in the first 1\.0 MiB\)$/],
  ['/endless', ['--contains', 'endless'], 'met', /: 200 \(\d\.\d MiB, text\/plain\)$/],
  ['/endless', [], 'met', /: 200 \(text\/plain\)$/],
  // Digests.
  ['/ok', ['--sha256', textDigest], 'met', /; its sha256 is [0-9a-f]{12}\.\.\.$/],
  ['/ok', ['--sha256', '0'.repeat(64)], 'pending', /; its sha256 is [0-9a-f]{12}\.\.\.$/],
  ['/missing', ['--sha256', '0'.repeat(64)], 'pending', /: 404 /],
  ['/ok', ['--sha256', textDigest, '--contains', 'well'], 'met', /: 200 /],
];
for (const [path, args, verdict, evidence] of verdicts) {
  test(`${path} ${args.join(' ').slice(0, 40)}: ${verdict}`, async (t) => {
    const server = await serve(t);
    const seen = await lookOnce(http, [`${server.origin}${path}`, ...args]);
    assert.equal(seen.verdict, verdict);
    assert.match(seen.evidence, evidence);
    assert.ok(seen.evidence.length <= 200);
  });
}

const troubles: [path: string, cause: string, message: RegExp, args?: string[]][] = [
  ['/broken', 'server', /: 500 \(5 B, text\/plain\)$/],
  ['/limited', 'rate_limit', /: 429 /],
  ['/limited-403', 'rate_limit', /: 403 /],
  ['/reset', 'network', /: connection reset \(ECONNRESET\)$/],
  ['/short', 'network', /: the body broke off after 11 B$/, ['--contains', 'x']],
  ['/circle', 'server', /: it redirects in a circle$/],
  ['/to?url=file:///etc/passwd', 'server', /\/to\?\.\.\.: it redirects to file:/],
  ['/huge-headers', 'shape', /: its headers are too long$/],
  ['/garbage', 'shape', /: what came is no HTTP/],
  ['/packed', 'shape', /; the body is packed \(gzip\)/, ['--contains', 'x']],
];
for (const [path, cause, message, args = []] of troubles) {
  test(`${path} is trouble: ${cause}`, async (t) => {
    const server = await serve(t);
    const answer = await look(http, [`${server.origin}${path}`, ...args]);
    if (answer.kind !== 'trouble') throw new Error(JSON.stringify(answer));
    assert.equal(answer.cause, cause);
    assert.match(answer.message, message);
  });
}

test('an attempt ends by its time, and that is trouble', { timeout: 60_000 }, async (t) => {
  const server = await serve(t);
  for (const [path, args] of [
    ['/silent', []],
    ['/slow-headers', []],
    ['/slow-body', ['--contains', 'x']],
  ] as const) {
    const answer = await look(http, [`${server.origin}${path}`, ...args], { attemptMs: 300 });
    assert.equal(answer.kind === 'trouble' && answer.cause, 'timeout', path);
  }
});

test('a body that never ends does not matter where only its status does', async (t) => {
  const server = await serve(t);
  assert.equal((await lookOnce(http, [`${server.origin}/slow-body`])).verdict, 'met');
});

for (const path of ['/login', '/forbidden']) {
  test(`${path}: a refused login ends the watch, and it is said what else it may be`, async (t) => {
    const server = await serve(t);
    const answer = await look(http, [`${server.origin}${path}`]);
    if (answer.kind !== 'fault') throw new Error(JSON.stringify(answer));
    assert.equal(answer.cause, 'auth');
    assert.match(
      answer.message,
      /: 40[13] .*; the login is refused \(if 40[13] means "not yet" here: --pending-status 40[13]\)$/,
    );
  });
}

test('a server says when to come back: in seconds, as a date, within an hour', async (t) => {
  const server = await serve(t);
  const waitOf = async (path: string, options?: ToolsOptions) => {
    const answer = await look(http, [`${server.origin}${path}`], options);
    return answer.kind === 'trouble' ? answer.retryAfterMs : answer.kind;
  };
  const nowMs = Date.UTC(2026, 0, 1, 12, 0, 0);
  const at = (text: string) => `/busy-date?at=${encodeURIComponent(text)}`;
  assert.equal(await waitOf('/busy'), 7_000);
  assert.equal(await waitOf('/limited'), 120_000);
  assert.equal(await waitOf('/broken'), null);
  assert.equal(await waitOf(at('Thu, 01 Jan 2026 12:01:30 GMT'), { nowMs }), 90_000);
  assert.equal(await waitOf(at('Thu, 01 Jan 2026 11:00:00 GMT'), { nowMs }), 0);
  assert.equal(await waitOf(at('99999999999999999999'), { nowMs }), 3_600_000);
  assert.equal(await waitOf(at('soon'), { nowMs }), null);
  assert.equal(await waitOf(at('-5'), { nowMs: Date.now() }), 0);
});

test('a pattern that backtracks for ever is trouble, and the process lives on', { timeout: 60_000 }, async (t) => {
  const server = await serve(t, { act: ({ socket }) => socket.end(`HTTP/1.1 200 x\r\n\r\n${'a'.repeat(60)}!`) });
  const answer = await look(http, [`${server.origin}/`, '--matches', '^(a+)+$']);
  assert.equal(answer.kind === 'trouble' && answer.cause, 'failed');
  assert.match(answer.kind === 'trouble' ? answer.message : '', /"\^\(a\+\)\+\$" takes too long on this body$/);
});

/** The keys and verdicts of some looks, each from the cursor of the one before. */
async function looks(url: string, args: string[], count: number) {
  const seen = [];
  let cursor: Cursor | null = null;
  for (let index = 0; index < count; index += 1) {
    const answer = await lookOnce(http, [url, ...args], { cursor });
    cursor = JSON.parse(JSON.stringify(answer.cursor));
    seen.push(answer);
  }
  return seen;
}

/** `=`: the same key as before, so no news. */
function told(seen: Awaited<ReturnType<typeof looks>>): string[] {
  return seen.map(({ key, verdict, word }, index) => `${key === seen[index - 1]?.key ? '=' : ''}${verdict} ${word}`);
}

test('a body that is another one each time is no news', async (t) => {
  const server = await serve(t);
  assert.deepEqual(told(await looks(`${server.origin}/clock`, [], 3)), ['met 200', '=met 200', '=met 200']);
  const pending = await looks(`${server.origin}/clock`, ['--contains', 'never'], 3);
  assert.deepEqual(told(pending), ['pending 200', '=pending 200', '=pending 200']);
});

test('--changed: the first look is the baseline, a body that is another one is the change, each is told once', async (t) => {
  const server = await serve(t);
  const seen = await looks(`${server.origin}/clock`, ['--changed'], 3);
  assert.deepEqual(told(seen), ['pending armed', 'met changed', 'met changed']);
  assert.match(seen[0]?.evidence ?? '', /; armed$/);
});

test('--changed goes by the ETag where there is one, whatever the body', async (t) => {
  const server = await serve(t);
  const seen = await looks(`${server.origin}/etag?same=2`, ['--changed'], 5);
  assert.deepEqual(told(seen), [
    'pending armed',
    '=pending unchanged',
    'met changed',
    '=pending unchanged',
    '=pending unchanged',
  ]);
});

test('--changed goes by Last-Modified where there is no ETag', async (t) => {
  const server = await serve(t);
  assert.deepEqual(told(await looks(`${server.origin}/modified`, ['--changed'], 2)), [
    'pending armed',
    '=pending unchanged',
  ]);
});

test('--changed alone: another status is a change too, the text of an error page is not', async (t) => {
  let status = 404;
  const server = await serve(t, {
    act: ({ socket, count }) => socket.end(`HTTP/1.1 ${status} x\r\n\r\nrequest ${count}`),
  });
  let cursor: Cursor | null = null;
  const next = async (now: number) => {
    status = now;
    const seen = await lookOnce(http, [`${server.origin}/`, '--changed'], { cursor });
    cursor = seen.cursor;
    return `${seen.verdict} ${seen.word}`;
  };
  assert.equal(await next(404), 'pending armed');
  assert.equal(await next(404), 'pending unchanged');
  assert.equal(await next(410), 'met changed');
  assert.equal(await next(200), 'met changed');
});

test('--changed with another condition waits until both hold, measured by the first look', async (t) => {
  const bodies = ['old', 'new, not there yet', 'new and ready', 'new and ready'];
  const server = await serve(t, {
    act: ({ socket, count }) => socket.end(`HTTP/1.1 200 x\r\n\r\n${bodies[count - 1]}`),
  });
  const seen = await looks(`${server.origin}/`, ['--changed', '--contains', 'ready'], 4);
  assert.deepEqual(told(seen), ['pending armed', 'pending changed', 'met changed', '=pending unchanged']);
});

test('--field: another value at that place is news', async (t) => {
  const server = await serve(t);
  const seen = await looks(`${server.origin}/json`, ['--field', 'status=done'], 3);
  assert.deepEqual(told(seen), ['pending 200', 'pending 200', '=pending 200']);
  assert.equal(seen[1]?.facts.value, 'ready');
});

test('--sha256: bytes that an ETag names as the same are not fetched again', async (t) => {
  const sent: number[] = [];
  const server = await serve(t, {
    act: ({ socket, count }) => {
      socket.write(`HTTP/1.1 200 x\r\netag: "${count < 3 ? 'a' : 'b'}"\r\ncontent-length: 4\r\n\r\n`);
      // Of the second one only the headers come: who wants its body waits until the end of its time.
      if (count === 2) return;
      sent.push(count);
      socket.end(count < 3 ? 'old!' : 'new!');
    },
  });
  const wanted = createHash('sha256').update('new!').digest('hex');
  const seen = await looks(`${server.origin}/`, ['--sha256', wanted], 3);
  assert.deepEqual(told(seen), ['pending 200', '=pending 200', 'met 200']);
  assert.deepEqual(sent, [1, 3]);
});

test('--sha256: nothing that others write into the cursor makes it met', async (t) => {
  const server = await serve(t, {
    act: ({ socket }) => socket.end('HTTP/1.1 200 x\r\netag: "a"\r\ncontent-length: 4\r\n\r\nold!'),
  });
  const wanted = createHash('sha256').update('new!').digest('hex');
  for (const sha256 of [wanted, wanted.toUpperCase(), 'x', 7, null, {}]) {
    const cursor = { etag: '"a"', sha256 };
    assert.equal((await lookOnce(http, [`${server.origin}/`, '--sha256', wanted], { cursor })).verdict, 'pending');
  }
});

test('--changed: a cursor of another form counts as none', async (t) => {
  const server = await serve(t);
  for (const cursor of [{}, { baseline: 7 }, { baseline: null }, { other: 'x' }])
    assert.equal((await lookOnce(http, [`${server.origin}/ok`, '--changed'], { cursor })).word, 'armed');
});

test('--sha256 of more than a gibibyte is trouble before a byte is read', async (t) => {
  const server = await serve(t, {
    act: ({ socket }) => socket.write('HTTP/1.1 200 x\r\ncontent-length: 2000000000\r\n\r\n'),
  });
  const answer = await look(http, [`${server.origin}/`, '--sha256', '0'.repeat(64)]);
  assert.match(answer.kind === 'trouble' ? answer.message : '', /; no digest is taken of more than 1\.0 GiB$/);
});

test('no fact has the name of a field that every line of a watch has', async (t) => {
  const server = await serve(t);
  const { facts } = await lookOnce(http, [`${server.origin}/json`, '--field', 'status=x']);
  assert.deepEqual(facts, {
    status: 200,
    bytes: 61,
    content_type: 'application/json',
    final_url: `${server.origin}/json`,
    redirects: 0,
    value: 'building',
  });
});

test('facts are small, plain, and show no query', async (t) => {
  const hostile = '\u009b31mred\u0085';
  const server = await serve(t, {
    act: ({ socket }) =>
      socket.end(
        Buffer.from(
          `HTTP/1.1 200 x\r\netag: "${'e'.repeat(500)}"\r\ncontent-type: ${hostile}; charset=latin1\r\n\r\n{"v":"${'\\u001b[31m'}${'v'.repeat(500)}"}`,
        ),
      ),
  });
  const answer = await lookOnce(http, [`${server.origin}/path?token=hunter2`, '--field', 'v=x']);
  const shown = JSON.stringify({ ...answer, cursor: null });
  assert.ok(!shown.includes('hunter2'), shown);
  assert.ok(!/[\u0080-\u009f]|\\u001b/.test(shown), shown);
  assert.ok(shown.length < 1500, shown);
});

test('headers of the caller are sent, and a secret is read from the environment at each look', async (t) => {
  const server = await serve(t);
  process.env.JC_TEST_SECRET = 'Bearer one';
  t.after(() => delete process.env.JC_TEST_SECRET);
  const args = [`${server.origin}/ok`, '--header', 'X-Trace: 7', '--header-env', 'Authorization=JC_TEST_SECRET'];
  const { input } = readWords(http, args);
  const ask = async () => http.look(input, makeTools(), null);
  assert.equal((await ask()).kind, 'look');
  assert.deepEqual([server.headers()['x-trace'], server.headers().authorization], ['7', 'Bearer one']);
  process.env.JC_TEST_SECRET = 'Bearer two';
  await ask();
  assert.equal(server.headers().authorization, 'Bearer two');
  process.env.JC_TEST_SECRET = 'Bearer\nthree';
  assert.match(JSON.stringify(await ask()), /characters that no header can have/);
  delete process.env.JC_TEST_SECRET;
  const answer = await ask();
  assert.equal(answer.kind === 'fault' && answer.cause, 'auth');
  assert.match(answer.kind === 'fault' ? answer.message : '', /JC_TEST_SECRET, which is not set/);
});

test('what stands in its way is over: the same watch goes on and is met', async (t) => {
  const server = await serve(t);
  const kinds = [];
  for (const path of ['/reset', '/garbage', '/busy', '/circle']) {
    const url = `${server.origin}${path}?good-after=1`;
    for (let index = 0; index < 2; index += 1) {
      const answer = await look(http, [url]);
      kinds.push(answer.kind === 'look' ? answer.verdict : answer.kind);
    }
  }
  assert.deepEqual(kinds, Array.from({ length: 4 }, () => ['trouble', 'met']).flat());
});
