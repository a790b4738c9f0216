// From a name to the file that a shell would start.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { findProgram } from '../../companion/src/platform/which.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

/** A workspace with `first/tool`, `second/tool` and `second/other`, and PATH as given for the time of the test. */
function makeTools(t: TestContext, path: (workspace: Workspace) => string[]): Workspace {
  const workspace = makeWorkspace(t, { git: false });
  for (const name of ['first/tool', 'second/tool', 'second/other']) chmodSync(workspace.write(name, ''), 0o755);
  const before = process.env.PATH;
  process.env.PATH = path(workspace).join(':');
  t.after(() => {
    process.env.PATH = before;
  });
  return workspace;
}

test('a name is searched on PATH in its order', (t) => {
  const { path } = makeTools(t, ({ path }) => [path('none'), path('first'), path('second')]);
  assert.equal(findProgram('tool', '/'), path('first/tool'));
  assert.equal(findProgram('other', '/'), path('second/other'));
  assert.equal(findProgram('missing', '/'), undefined);
});

test('what is no executable file is passed over', (t) => {
  const { path, write } = makeTools(t, ({ path }) => [path('text'), path('folders'), path('broken'), path('second')]);
  chmodSync(write('text/tool', ''), 0o644);
  mkdirSync(path('folders/tool'), { recursive: true });
  mkdirSync(path('broken'));
  symlinkSync('/nowhere/at-all', path('broken/tool'));
  assert.equal(findProgram('tool', '/'), path('second/tool'));
});

test('a name with a slash counts from the folder and is never searched', (t) => {
  const { path, dir } = makeTools(t, ({ path }) => [path('first')]);
  assert.equal(findProgram('./tool', dir), undefined);
  assert.equal(findProgram('./first/tool', dir), path('first/tool'));
  assert.equal(findProgram('../first/tool', path('second')), path('first/tool'));
  assert.equal(findProgram(path('second/tool'), '/'), path('second/tool'));
  assert.equal(findProgram('first/', dir), undefined);
});

test('an empty or relative entry of PATH counts from the folder', (t) => {
  const { path, dir } = makeTools(t, () => ['', 'second']);
  assert.equal(findProgram('tool', path('first')), path('first/tool'));
  assert.equal(findProgram('other', dir), path('second/other'));
});

test('no name is no program', (t) => {
  const { dir } = makeTools(t, ({ path }) => [path('first')]);
  for (const name of ['', '.', '..']) assert.equal(findProgram(name, dir), undefined, name);
});

test('an entry of PATH that cannot be searched does not end the search', {}, (t) => {
  const { path } = makeTools(t, ({ path }) => [path('second/other'), path('loop'), path('closed'), path('first')]);
  symlinkSync('loop', path('loop'));
  // For everybody but root.
  mkdirSync(path('closed'), { mode: 0 });
  assert.equal(findProgram('tool', '/'), path('first/tool'));
});
