// Several watches of one pull request ask GitHub once: of the same kind and of different ones, for failures too. With the real store.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { ensureKey } from '../../companion/src/store/mac.ts';
import { shareAnswer } from '../../companion/src/store/shared.ts';
import { ci } from '../../companion/src/watches/ci.ts';
import { pr } from '../../companion/src/watches/pr.ts';
import { review } from '../../companion/src/watches/review.ts';
import type { Cursor, Fault, Look, Tools, Trouble, Watch } from '../../companion/src/watches/watch.ts';
import { type Desk, job, makeDesk, read, view } from './github-desk.ts';

interface Office extends Desk {
  look(watch: Watch, change?: Partial<Tools>, cursor?: Cursor | null): Promise<Look | Trouble | Fault>;
}

function makeOffice(t: TestContext): Office {
  const desk = makeDesk(t);
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = desk.env.XDG_CONFIG_HOME;
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  });
  ensureKey();
  const root = desk.path('state');
  mkdirSync(root);
  const shared: Tools['shared'] = (key, maxAgeMs, ask) => shareAnswer({ root, key, maxAgeMs, waitMs: 60_000, ask });
  t.mock.timers.enable({ apis: ['Date'], now: desk.nowMs });
  return {
    ...desk,
    look: (watch, change = {}, cursor = {}) =>
      watch.look(read(watch, 'octo/demo#7'), { ...desk.tools(), nowMs: Date.now, shared, ...change }, cursor),
  };
}

const red = view({ statusCheckRollup: [job('unit', 'FAILURE')] });

test('a ci, a pr and a review watch of one pull request make one fetch, also at the same time', async (t) => {
  const office = makeOffice(t);
  office.play({ view: red });
  const kinds: Watch[] = [ci, pr, review, ci, review];
  const found = await Promise.all(kinds.map((kind) => office.look(kind)));
  assert.deepEqual(
    found.map((look) => 'word' in look && look.word),
    ['failed', 'open', 'armed', 'failed', 'armed'],
  );
  assert.deepEqual(
    office.calls().map(({ command }) => command),
    ['pr view', 'run list'],
  );
});

test("within a watch's own interval another's answer will do; after it GitHub is asked again", async (t) => {
  const office = makeOffice(t);
  office.play({ view: red });
  await office.look(review);
  t.mock.timers.tick(40_000);
  await office.look(review);
  assert.equal(office.calls().length, 1);
  await office.look(review, { everyMs: 30_000 });
  assert.equal(office.calls().length, 2);
  t.mock.timers.tick(59_000);
  await office.look(review);
  assert.equal(office.calls().length, 3);
});

test('a first look takes nothing that was fetched before it came, because something may just have been pushed', async (t) => {
  const office = makeOffice(t);
  office.play({ view: red });
  await office.look(review);
  t.mock.timers.tick(1);
  await office.look(review, {}, null);
  assert.equal(office.calls().length, 2);
});

test("to see whether green stays green, another watch's answer will not do", async (t) => {
  const office = makeOffice(t);
  office.play({ view: red });
  await office.look(ci);
  t.mock.timers.tick(15_000);
  await office.look(ci, {}, { head: 'x', since: 0, green: 'x 1 0' });
  assert.equal(office.calls('pr view').length, 2);
});

test('a rate limit holds for all until its reset, and each is told what is left of it', async (t) => {
  const office = makeOffice(t);
  office.play({ fail: { stderr: 'HTTP 403: API rate limit exceeded. Retry-After: 600' } }, { view: red });
  const first = await office.look(ci);
  t.mock.timers.tick(200_000);
  const second = await office.look(review);
  assert.deepEqual(
    [first, second].map((found) => 'retryAfterMs' in found && found.retryAfterMs),
    [600_000, 400_000],
  );
  assert.equal(office.calls().length, 1);
  t.mock.timers.tick(400_000);
  assert.equal((await office.look(ci)).kind, 'look');
});

for (const stderr of [
  'HTTP 403: API rate limit exceeded. Retry-After: 0',
  'HTTP 429: rate limit, resets at 2025-06-01 11:00:00 UTC',
]) {
  test(`twenty watches ask once a minute: ${stderr}`, async (t) => {
    const office = makeOffice(t);
    office.play({ fail: { stderr } }, { view: red });
    for (let round = 0; round < 20; round += 1) await office.look(round % 2 === 0 ? ci : review);
    assert.equal(office.calls('pr view').length, 1);
    t.mock.timers.tick(60_000);
    assert.equal((await office.look(ci)).kind, 'look');
  });
}

test('another trouble stands for a second only, so that a retry asks again, and a fault for nobody else', async (t) => {
  const office = makeOffice(t);
  office.play(
    { fail: { stderr: 'HTTP 502: Bad Gateway' }, times: 3 },
    { fail: { stderr: 'HTTP 401: Bad credentials' } },
    { view: red },
  );
  assert.equal((await office.look(ci)).kind, 'trouble');
  assert.equal((await office.look(ci)).kind, 'trouble');
  assert.equal(office.calls().length, 3);
  t.mock.timers.tick(1_100);
  assert.equal((await office.look(ci)).kind, 'fault');
  assert.equal((await office.look(ci)).kind, 'look');
});
