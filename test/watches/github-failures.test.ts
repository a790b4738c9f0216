// Why gh gave no answer: what ends a watch at once, what is tried again, and when. The messages are those of gh and of GitHub.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { ci } from '../../companion/src/watches/ci.ts';
import type { Fault, Look, Tools, Trouble } from '../../companion/src/watches/watch.ts';
import { listProcesses } from '../helpers/process.ts';
import { type Desk, makeDesk, read, type Step, view } from './github-desk.ts';

function look(desk: Desk, change: Partial<Tools> = {}): Promise<Look | Trouble | Fault> {
  return ci.look(read(ci, 'octo/demo#7'), desk.tools(change), null);
}

const noLogin =
  'To get started with GitHub CLI, please run:  gh auth login\nAlternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.';
const faults: [stderr: string, code: number, cause: string, says: RegExp][] = [
  [noLogin, 4, 'auth', /^gh is not logged in: To get started with GitHub CLI, please run: gh auth login/],
  [
    'HTTP 401: Bad credentials (https://api.github.com/graphql)\nTry authenticating with:  gh auth login',
    1,
    'auth',
    /^GitHub refused the login of gh: HTTP 401: Bad credentials/,
  ],
  ['HTTP 403: Must have admin rights to Repository. (https://api.github.com/repos/octo/demo)', 1, 'auth', /HTTP 403/],
  [
    'GraphQL: Resource not accessible by personal access token (repository.pullRequest)',
    1,
    'auth',
    /personal access token/,
  ],
  ['GraphQL: Resource protected by organization SAML enforcement.', 1, 'auth', /SAML/],
  ["GraphQL: Could not resolve to a Repository with the name 'octo/demo'. (repository)", 1, 'not_found', /octo\/demo/],
  [
    'GraphQL: Could not resolve to a PullRequest with the number of 7. (repository.pullRequest)',
    1,
    'not_found',
    /number of 7/,
  ],
  [
    'HTTP 404: Not Found (https://api.github.com/repos/octo/demo/actions/runs)',
    1,
    'not_found',
    /^GitHub does not have it, or not for this login: HTTP 404/,
  ],
  [
    'failed to run git: fatal: not a git repository (or any of the parent directories): .git',
    1,
    'refused',
    /--repo OWNER\/REPO/,
  ],
  [
    'none of the git remotes configured for this repository point to a known GitHub host. To tell gh about a new GitHub host, please use `gh auth login`',
    1,
    'refused',
    /--repo OWNER\/REPO/,
  ],
  ['unknown flag: --json', 1, 'refused', /too old/],
  ['Unknown JSON field: "mergeStateStatus"', 1, 'refused', /too old/],
];

for (const [stderr, code, cause, says] of faults) {
  test(`${JSON.stringify(stderr.slice(0, 60))} ends the watch: ${cause}`, async (t) => {
    const desk = makeDesk(t);
    desk.play({ fail: { stderr, code } });
    const found = await look(desk);
    assert.deepEqual([found.kind, 'cause' in found && found.cause], ['fault', cause]);
    assert.match('message' in found ? found.message : '', says);
    assert.equal(desk.calls().length, 1);
  });
}

const troubles: [stderr: string, cause: string][] = [
  ['HTTP 502: Bad Gateway (https://api.github.com/graphql)', 'server'],
  ['non-200 OK status code: 503 Service Unavailable body: ""', 'server'],
  ['GraphQL: Something went wrong while executing your query. This may be the result of a timeout', 'server'],
  ['error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com', 'network'],
  ['Post "https://api.github.com/graphql": dial tcp 140.82.121.6:443: connect: connection refused', 'network'],
  ['Post "https://api.github.com/graphql": EOF', 'network'],
  ['Post "https://api.github.com/graphql": net/http: TLS handshake timeout', 'timeout'],
  ['Post "https://api.github.com/graphql": dial tcp 140.82.121.6:443: i/o timeout', 'timeout'],
  ['a word of tomorrow', 'failed'],
];

for (const [stderr, cause] of troubles) {
  test(`${JSON.stringify(stderr.slice(0, 60))} is asked three times and is then trouble: ${cause}`, async (t) => {
    const desk = makeDesk(t);
    desk.play({ fail: { stderr } });
    const found = await look(desk);
    assert.deepEqual([found.kind, 'cause' in found && found.cause], ['trouble', cause]);
    assert.equal(desk.calls().length, 3);
  });
}

test('what heals between two tries is no trouble', async (t) => {
  const desk = makeDesk(t);
  desk.play({ fail: { stderr: 'HTTP 502: Bad Gateway' }, times: 2 }, { view: view() });
  assert.equal((await look(desk)).kind, 'look');
});

test('no answer, half an answer and an answer of another form are trouble', async (t) => {
  const desk = makeDesk(t);
  for (const raw of [
    '',
    '{"state": "OP',
    'null',
    '[]',
    '"x"',
    JSON.stringify(view({ state: 'ODD' })),
    JSON.stringify(view({ headRefOid: 'main' })),
  ]) {
    desk.play({ raw });
    const found = await look(desk);
    assert.deepEqual([found.kind, 'cause' in found && found.cause], ['trouble', 'shape'], raw);
  }
});

const now = Date.parse('2025-06-01T12:00:00Z');
const support =
  'API rate limit exceeded for user ID 1. If you reach out to GitHub Support, please include the request ID A1:2B and';
const limited: [what: string, step: Step, waitMs: number | null, calls: string[]][] = [
  [
    'that says how long',
    { fail: { stderr: 'HTTP 403: API rate limit exceeded. Retry-After: 90' } },
    90_000,
    ['pr view'],
  ],
  [
    'that says until when',
    { fail: { stderr: 'HTTP 429: rate limit, resets 2025-06-01 12:10:00 UTC' } },
    600_000,
    ['pr view'],
  ],
  [
    'that says in how long',
    { fail: { stderr: 'API rate limit exceeded, try again in 3 minutes' } },
    180_000,
    ['pr view'],
  ],
  [
    'whose reset gh can ask for',
    {
      fail: { stderr: 'GraphQL: API rate limit exceeded for user ID 1. (HTTP 403)' },
      limits: {
        core: { limit: 5000, remaining: 12, reset: now / 1000 + 3000 },
        graphql: { limit: 5000, remaining: 0, reset: now / 1000 + 1200 },
      },
    },
    1_200_000,
    ['pr view', 'api rate_limit'],
  ],
  [
    'whose only stamp is that of the request',
    {
      fail: { stderr: `${support} timestamp 2025-06-01 12:00:01 UTC. (HTTP 403)` },
      limits: { core: { limit: 5000, remaining: 0, reset: now / 1000 + 1200 } },
    },
    1_200_000,
    ['pr view', 'api rate_limit'],
  ],
  [
    'of the secondary kind with the stamp of the request',
    {
      fail: {
        stderr: `HTTP 403: You have exceeded a secondary rate limit. ${support} timestamp 2025-06-01 12:00:09 UTC`,
      },
    },
    60_000,
    ['pr view'],
  ],
  [
    'that is over already by its words',
    { fail: { stderr: 'HTTP 429: rate limit, resets at 2025-06-01 11:59:00 UTC' } },
    60_000,
    ['pr view', 'api rate_limit'],
  ],
  [
    'that says zero',
    { fail: { stderr: 'HTTP 403: API rate limit exceeded. Retry-After: 0' } },
    60_000,
    ['pr view', 'api rate_limit'],
  ],
  [
    'whose reset has passed by the answer of gh too',
    {
      fail: { stderr: 'GraphQL: API rate limit exceeded for user ID 1. (HTTP 403)' },
      limits: { core: { limit: 5000, remaining: 0, reset: now / 1000 - 5 } },
    },
    60_000,
    ['pr view', 'api rate_limit'],
  ],
  [
    'with a reset of next year',
    { fail: { stderr: 'HTTP 429: rate limit, until 2026-06-01T12:00:00Z' } },
    3_900_000,
    ['pr view'],
  ],
  [
    'whose reset gh tells too late, by a clock that is wrong',
    {
      fail: { stderr: 'GraphQL: API rate limit exceeded for user ID 1. (HTTP 403)' },
      limits: { core: { limit: 5000, remaining: 0, reset: now / 1000 + 90_000 } },
    },
    3_900_000,
    ['pr view', 'api rate_limit'],
  ],
  [
    'of the secondary kind',
    { fail: { stderr: 'HTTP 403: You have exceeded a secondary rate limit. Please wait a few minutes' } },
    60_000,
    ['pr view'],
  ],
];

for (const [what, step, waitMs, calls] of limited) {
  test(`a rate limit ${what} is waited for, and not asked again meanwhile`, async (t) => {
    const desk = makeDesk(t);
    desk.play(step);
    const found = await look(desk);
    assert.deepEqual([found.kind, 'cause' in found && found.cause], ['trouble', 'rate_limit']);
    assert.equal('retryAfterMs' in found && found.retryAfterMs, waitMs);
    assert.deepEqual(
      desk.calls().map(({ command }) => command),
      calls,
    );
  });
}

test('a missing gh ends the watch and names the PATH that was searched', async (t) => {
  const desk = makeDesk(t);
  const found = await look(desk, { find: () => undefined });
  assert.equal('cause' in found && found.cause, 'tool_missing');
  assert.ok('message' in found && found.message.startsWith(`cannot find gh on PATH (${process.env.PATH})`));
});

test('a gh that cannot be executed ends the watch', async (t) => {
  const desk = makeDesk(t);
  const broken = desk.path('gh');
  writeFileSync(broken, '#!/no/such/interpreter\n');
  chmodSync(broken, 0o755);
  const found = await look(desk, { find: () => broken });
  assert.equal('cause' in found && found.cause, 'tool_missing');
});

test('a gh that hangs is ended with its children within the attempt, and is trouble', async (t) => {
  const desk = makeDesk(t);
  desk.play({ hang: true });
  const until = performance.now() + 500;
  const found = await look(desk, { leftMs: () => Math.max(1, until - performance.now()) });
  assert.deepEqual([found.kind, 'cause' in found && found.cause], ['trouble', 'timeout']);
  assert.deepEqual(listProcesses({ environment: `JOB_TEST_MARKER=${desk.marker}` }), []);
});

test('each call is bounded by thirty seconds, whatever is left of the attempt', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view() });
  const bounds: (number | undefined)[] = [];
  const tools = desk.tools();
  await look(desk, {
    leftMs: () => 600_000,
    run: (call) => {
      bounds.push(call.timeoutMs);
      return tools.run(call);
    },
  });
  assert.deepEqual(bounds, [30_000, 30_000]);
});

test('a failure of the second question is the failure of the look', async (t) => {
  const desk = makeDesk(t);
  desk.play({ view: view(), fail: { at: 'run list', stderr: 'HTTP 404: Not Found' } });
  const found = await look(desk);
  assert.equal('cause' in found && found.cause, 'not_found');
});

test('the words of gh are plain, on one line and short', async (t) => {
  const desk = makeDesk(t);
  desk.play({ fail: { stderr: `\u001b[31mHTTP 404\u001b[0m\n${'x'.repeat(5000)}` } });
  const found = await look(desk);
  const message = 'message' in found ? found.message : '';
  assert.ok(message.length < 500 && message.includes('HTTP 404 xxx'), message);
});
