// The state folder's config.json lies where an agent may write: it narrows or it is refused, and it never widens anything.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import type { Profile } from '../../companion/src/core/staff.ts';
import {
  defaultBackend,
  type Narrowing,
  narrowingText,
  narrowProfile,
  noNarrowing,
  readNarrowing,
} from '../../companion/src/store/narrow.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const known = ['codex', 'claude', 'mine'];

function makePlace(t: TestContext) {
  const workspace = makeWorkspace(t, { git: false });
  const file = workspace.path('config.json');
  const put = (content: unknown, mode = 0o600) => {
    workspace.write('config.json', typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(file, mode);
  };
  return { ...workspace, file, put, read: () => readNarrowing(workspace.dir, known) };
}

function refusalOf(call: () => unknown): FaultError {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    assert.equal(error.code, 'preflight');
    return error;
  }
  return assert.fail('nothing was refused');
}

test('no file narrows nothing', (t) => {
  assert.deepEqual(makePlace(t).read(), { restrict: [], default_backend: {} });
});

test('a sound file is read; each part may be missing, and a mode named twice counts once', (t) => {
  const { put, read } = makePlace(t);
  put({ restrict: ['review', 'staffer', 'review'], default_backend: { review: 'claude', ask: 'mine' } });
  assert.deepEqual(read(), { restrict: ['review', 'staffer'], default_backend: { review: 'claude', ask: 'mine' } });
  put({ restrict: ['ask'] }, 0o444);
  assert.deepEqual(read(), { restrict: ['ask'], default_backend: {} });
  put({ default_backend: { ask: 'codex' } }, 0o644);
  assert.deepEqual(read(), { restrict: [], default_backend: { ask: 'codex' } });
  put({});
  assert.deepEqual(read(), noNarrowing);
});

const refused: [what: string, content: unknown, reason: RegExp][] = [
  ['no JSON', '{', /config\.json is no JSON object/],
  ['nothing', '', /config\.json is no JSON object/],
  ['a list', [], /config\.json is no JSON object/],
  ['an unknown mode', { restrict: ['deploy'] }, /mode "deploy" is not known; there are staffer, research, review/],
  ['a mode of JavaScript', { restrict: ['constructor'] }, /mode "constructor" is not known/],
  ['a mode that is no text', { restrict: [1] }, /mode 1 is not known/],
  ['modes that are a text', { restrict: 'review' }, /"restrict" is no list of modes/],
  ['modes that are null', { restrict: null }, /"restrict" is no list of modes/],
  [
    'an unknown backend',
    { default_backend: { ask: 'evil' } },
    /backend "evil" is not known; there are codex, claude, mine/,
  ],
  ['a backend that is a path', { default_backend: { ask: './codex' } }, /backend "\.\/codex" is not known/],
  ['a backend that is a command line', { default_backend: { ask: ['sh'] } }, /backend \["sh"\] is not known/],
  ['a backend for an unknown mode', { default_backend: { deploy: 'codex' } }, /mode "deploy" is not known/],
  ['one backend for all', { default_backend: 'codex' }, /"default_backend" is no object/],
  ['a list of backends', { default_backend: ['codex'] }, /"default_backend" is no object/],
  ['programs of its own', { backends: { mine: { argv: ['sh'] } } }, /"backends" is not known here/],
  ['a wider profile', { restrict: [], profile: 'unrestricted' }, /"profile" is not known here/],
];
for (const [what, content, reason] of refused) {
  test(`a file with ${what} is refused as a whole`, (t) => {
    const { put, read, file } = makePlace(t);
    put(content);
    const { message, next } = refusalOf(read);
    assert.match(message, reason);
    assert.ok(message.startsWith(`cannot use the config of the state folder ${file}: `), message);
    assert.match(next ?? '', /its form is \{"restrict"/);
  });
}

test('a __proto__ in the file is refused and changes no object', (t) => {
  const { put, read } = makePlace(t);
  put('{"__proto__":{"restrict":[]}}');
  assert.match(refusalOf(read).message, /"__proto__" is not known here/);
  put('{"default_backend":{"__proto__":"codex"}}');
  assert.match(refusalOf(read).message, /mode "__proto__" is not known/);
});

test('a link, a folder and a file that others may write are refused', (t) => {
  const { put, read, file, write } = makePlace(t);
  for (const mode of [0o620, 0o602]) {
    put({}, mode);
    assert.match(refusalOf(read).message, /others own it or may write it/);
  }
  rmSync(file);
  symlinkSync(write('elsewhere.json', '{}'), file);
  assert.match(refusalOf(read).message, /it is no regular file/);
  rmSync(file);
  mkdirSync(file);
  assert.match(refusalOf(read).message, /it is no regular file/);
});

test('what would be written is read back as it was; nothing to say is no file', (t) => {
  const { put, read } = makePlace(t);
  const narrowing: Narrowing = { restrict: ['review'], default_backend: { ask: 'codex' } };
  const text = narrowingText(narrowing);
  assert.match(text ?? '', /^\{\n {2}"restrict"/);
  put(text ?? '');
  assert.deepEqual(read(), narrowing);
  assert.equal(narrowingText(noNarrowing), null);
});

const restrictions = [
  { restrict: ['ask'], file: '/user/config.json' },
  { restrict: ['review', 'ask'], file: '/state/config.json' },
];

test('a mode that nobody restricts has the asked profile, else its fallback', () => {
  for (const profile of ['restricted', 'standard', 'unrestricted'] as Profile[]) {
    assert.equal(narrowProfile('staffer', { asked: profile, fallback: 'standard' }, restrictions), profile);
    assert.equal(narrowProfile('staffer', { asked: undefined, fallback: profile }, restrictions), profile);
  }
});

test('a restricted mode is restricted, and a wider profile asked for by name is refused with the file that says so', () => {
  for (const fallback of ['restricted', 'standard', 'unrestricted'] as Profile[]) {
    assert.equal(narrowProfile('review', { asked: undefined, fallback }, restrictions), 'restricted');
    assert.equal(narrowProfile('review', { asked: 'restricted', fallback }, restrictions), 'restricted');
  }
  for (const asked of ['standard', 'unrestricted'] as Profile[]) {
    const { message } = refusalOf(() => narrowProfile('review', { asked, fallback: 'standard' }, restrictions));
    assert.equal(message, `cannot use --profile ${asked} for review: /state/config.json restricts this mode`);
    assert.match(refusalOf(() => narrowProfile('ask', { asked, fallback: asked }, restrictions)).message, /\/user\//);
  }
});

test("the user's words on a backend come before the state folder's, the mode's before the general one", () => {
  const state: Narrowing = { restrict: [], default_backend: { review: 'claude' } };
  const user = { default_backend: 'codex', default_backends: { review: 'mine' } };
  assert.deepEqual(defaultBackend('review', user, state), { name: 'mine', from: 'user' });
  assert.deepEqual(defaultBackend('ask', user, state), { name: 'codex', from: 'user' });
  assert.deepEqual(defaultBackend('review', { default_backend: 'codex' }, state), { name: 'codex', from: 'user' });
  assert.deepEqual(defaultBackend('review', {}, state), { name: 'claude', from: 'state' });
  assert.equal(defaultBackend('ask', {}, state), undefined);
  assert.equal(defaultBackend('constructor', {}, state), undefined);
});
