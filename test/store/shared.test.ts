// One question of several watches is asked once: at the same time, within the allowed age, and again after it; a forged, foreign or
// damaged answer is none, a dead asker blocks nobody, and whatever is wrong with the folder, the caller asks by itself.
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { ensureKey } from '../../companion/src/store/mac.ts';
import { type Question, shareAnswer } from '../../companion/src/store/shared.ts';
import { eventually } from '../helpers/eventually.ts';
import { killByIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeProgram, startProgram } from '../platform/child-program.ts';

interface Answer {
  text: string;
  holdMs?: number;
}

interface Desk extends Workspace {
  root: string;
  asked: number;
  ask(change?: Partial<Question<Answer>>, answer?: Partial<Answer>): Promise<Answer>;
  files(): string[];
}

/** A state folder, the key of a user, and who counts how often is really asked. */
function makeDesk(t: TestContext, { hasKey = true } = {}): Desk {
  const workspace = makeWorkspace(t, { git: false });
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = workspace.env.XDG_CONFIG_HOME;
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before;
  });
  if (hasKey) ensureKey();
  const root = workspace.path('state');
  mkdirSync(root);
  const desk: Desk = {
    ...workspace,
    root,
    asked: 0,
    async ask(change = {}, answer = {}) {
      return shareAnswer<Answer>({
        root,
        key: 'pr 7',
        maxAgeMs: 60_000,
        waitMs: 0,
        async ask() {
          desk.asked += 1;
          return { text: `answer ${desk.asked}`, ...answer };
        },
        ...change,
      });
    },
    files: () => readdirSync(join(root, 'shared')).filter((name) => name.endsWith('.json')),
  };
  return desk;
}

test('a second watch takes the answer of the first, and asks again when it is too old', async (t) => {
  const desk = makeDesk(t);
  assert.equal((await desk.ask()).text, 'answer 1');
  assert.equal((await desk.ask()).text, 'answer 1');
  assert.equal((await desk.ask({ maxAgeMs: 0 })).text, 'answer 2');
  assert.equal((await desk.ask({ key: 'pr 8' })).text, 'answer 3');
  const [file = ''] = desk.files();
  assert.equal(statSync(join(desk.root, 'shared', file)).mode & 0o777, 0o600);
});

test('twenty that ask at once, in processes of their own, ask once', async (t) => {
  const desk = makeDesk(t);
  const log = desk.path('asked');
  const code = `import { appendFileSync } from 'node:fs';
    import { shareAnswer } from './store/shared.ts';
    import { sleep } from './platform/clock.ts';
    const [root, log] = process.argv.slice(2);
    process.stdin.resume().on('end', async () => {
      const answer = await shareAnswer({ root, key: 'pr', maxAgeMs: 60000, waitMs: 60000, async ask() {
        appendFileSync(log, 'x');
        await sleep(300);
        return { text: 'one' };
      } });
      console.log(answer.text);
    });`;
  const program = makeProgram(desk, 'share', code);
  const running = Array.from({ length: 20 }, () => startProgram(desk, [program, desk.root, log]));
  for (const one of running) one.begin();
  for (const { ended } of running) assert.equal((await ended).stdout, 'one\n');
  assert.equal(readFileSync(log, 'utf8'), 'x');
});

test('those that came while another asked take the next answer, however slow it is; at most two are asked', async (t) => {
  const desk = makeDesk(t);
  const slow = async () => {
    desk.asked += 1;
    const text = `answer ${desk.asked}`;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { text };
  };
  const ask = () => desk.ask({ ask: slow, maxAgeMs: 1, waitMs: 60_000 });
  const first = ask();
  await eventually('the first to ask', () => desk.asked === 1);
  const found = await Promise.all([first, ...Array.from({ length: 7 }, ask)]);
  assert.deepEqual(found.map(({ text }) => text).sort(), ['answer 1', ...Array(7).fill('answer 2')]);
});

test('a killed asker blocks nobody, and a living one is waited for no longer than allowed', async (t) => {
  const desk = makeDesk(t);
  const code = `import { shareAnswer } from './store/shared.ts';
    await shareAnswer({ root: process.argv[2], key: 'pr 7', maxAgeMs: 60000, waitMs: 0, ask() {
      console.log('asking');
      return new Promise((resolve) => process.stdin.resume().on('end', resolve));
    } });`;
  const asker = startProgram(desk, [makeProgram(desk, 'hang', code), desk.root]);
  await eventually('it to ask', () => asker.stdout() === 'asking\n');
  await assert.rejects(desk.ask(), (error) => error instanceof FaultError && error.code === 'busy');
  assert.equal((await desk.ask({ key: 'pr 8' })).text, 'answer 1');
  killByIdentity(asker.identity);
  await asker.ended;
  assert.equal((await desk.ask()).text, 'answer 2');
});

test('an answer says itself how long it stands for others', async (t) => {
  const desk = makeDesk(t);
  await desk.ask({}, { holdMs: 0 });
  assert.equal(desk.files().length, 0);
  // A rate limit stands until its reset, whatever age a reader allows.
  assert.equal((await desk.ask({}, { holdMs: 3_600_000 })).text, 'answer 2');
  assert.equal((await desk.ask({ maxAgeMs: 0 })).text, 'answer 2');
});

test('a failed question is thrown to its asker and leaves the next one free', async (t) => {
  const desk = makeDesk(t);
  const fail = () => Promise.reject(new Error('no network'));
  await assert.rejects(desk.ask({ ask: fail }), /no network/);
  assert.equal((await desk.ask()).text, 'answer 1');
});

const forgeries: [what: string, forge: (stored: Record<string, unknown>) => string][] = [
  ['another answer', (stored) => JSON.stringify({ ...stored, value: { text: 'passed' } })],
  ['the answer to another question', (stored) => JSON.stringify({ ...stored, key: 'pr 9' })],
  ['another date', (stored) => JSON.stringify({ ...stored, at: Number(stored.at) - 7 })],
  ['a longer life', (stored) => JSON.stringify({ ...stored, hold: 3_600_000 })],
  ['no MAC', ({ mac, ...stored }) => JSON.stringify(stored)],
  ['an empty MAC', (stored) => JSON.stringify({ ...stored, mac: '' })],
  ['half a file', (stored) => JSON.stringify(stored).slice(0, 40)],
  ['null', () => 'null'],
];

for (const [what, forge] of forgeries) {
  test(`a stored answer with ${what} is none`, async (t) => {
    const desk = makeDesk(t);
    await desk.ask();
    const file = join(desk.root, 'shared', desk.files()[0] ?? '');
    writeFileSync(file, forge(JSON.parse(readFileSync(file, 'utf8'))));
    assert.equal((await desk.ask()).text, 'answer 2');
  });
}

test('an old answer under a new question, and one from the future, are none', async (t) => {
  const desk = makeDesk(t);
  await desk.ask();
  const [name = ''] = desk.files();
  const genuine = readFileSync(join(desk.root, 'shared', name));
  await desk.ask({ key: 'pr 8' });
  const other = desk.files().find((file) => file !== name) ?? '';
  writeFileSync(join(desk.root, 'shared', other), genuine);
  assert.equal((await desk.ask({ key: 'pr 8' })).text, 'answer 3');
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 120_000 });
  assert.equal((await desk.ask()).text, 'answer 4');
});

test('without a key, in a linked folder, in one that others may write, and on a full disk everybody asks', async (t) => {
  const keyless = makeDesk(t, { hasKey: false });
  await keyless.ask();
  assert.equal((await keyless.ask()).text, 'answer 2');
  const linked = makeDesk(t);
  mkdirSync(linked.path('elsewhere'));
  symlinkSync(linked.path('elsewhere'), join(linked.root, 'shared'));
  await linked.ask();
  assert.equal((await linked.ask()).text, 'answer 2');
  assert.deepEqual(readdirSync(linked.path('elsewhere')), []);
  const open = makeDesk(t);
  mkdirSync(join(open.root, 'shared'));
  chmodSync(join(open.root, 'shared'), 0o777);
  await open.ask();
  assert.equal((await open.ask()).text, 'answer 2');
  const planted = makeDesk(t);
  await planted.ask();
  const file = join(planted.root, 'shared', planted.files()[0] ?? '');
  writeFileSync(file.replace(/json$/, 'x'), '');
  assert.equal((await planted.ask({ maxAgeMs: 0 })).text, 'answer 2');
});

test('an answer that is too long is not kept, and what is a day old goes', async (t) => {
  const desk = makeDesk(t);
  await desk.ask({}, { text: 'x'.repeat(300 * 1024) });
  assert.equal(desk.files().length, 0);
  await desk.ask();
  for (const name of readdirSync(join(desk.root, 'shared'))) {
    utimesSync(join(desk.root, 'shared', name), 1, 1);
  }
  writeFileSync(join(desk.root, 'shared', 'mine.txt'), '');
  utimesSync(join(desk.root, 'shared', 'mine.txt'), 1, 1);
  await desk.ask({ key: 'pr 8' });
  assert.equal(desk.files().length, 1);
  assert.ok(readdirSync(join(desk.root, 'shared')).includes('mine.txt'));
});
