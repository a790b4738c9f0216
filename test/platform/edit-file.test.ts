// Files of other people and programs: changed whole or not at all, with a copy beside them, and never over somebody else's change.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import test, { type TestContext } from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { applyAll, type FileEdit } from '../../companion/src/platform/edit-file.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const stamp = '20260102T030405Z';
const applyEdit = (edit: FileEdit, at: string) => applyAll([edit], at)[0] ?? null;

function refusal(call: () => unknown): FaultError {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

test('a new file is made with its folders, all of them private, and has no copy', (t) => {
  const { path } = makeWorkspace(t, { git: false });
  const file = path('a/b/file');
  assert.equal(applyEdit({ file, before: null, after: 'x', followsLink: true }, stamp), null);
  assert.equal(readFileSync(file, 'utf8'), 'x');
  assert.deepEqual([statSync(file).mode & 0o777, statSync(path('a')).mode & 0o777], [0o600, 0o700]);
});

test('a changed file keeps its mode, and the copy has the old text and the same mode', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  const file = write('file', 'old');
  linkSync(file, path('other'));
  chmodSync(file, 0o640);
  const copy = applyEdit({ file, before: 'old', after: 'new', followsLink: false }, stamp);
  assert.equal(copy, `${file}.job-companion-${stamp}.bak`);
  assert.deepEqual([readFileSync(file, 'utf8'), readFileSync(copy ?? '', 'utf8')], ['new', 'old']);
  assert.deepEqual([statSync(file).mode & 0o777, statSync(copy ?? '').mode & 0o777], [0o640, 0o640]);
  // Put in place as a new file: whoever reads the old one sees it whole.
  assert.equal(readFileSync(path('other'), 'utf8'), 'old');
});

test('a second copy in the same second does not replace the first', (t) => {
  const { write } = makeWorkspace(t, { git: false });
  const file = write('file', '1');
  const copies = [
    applyEdit({ file, before: '1', after: '2', followsLink: false }, stamp),
    applyEdit({ file, before: '2', after: null, followsLink: false }, stamp),
  ];
  assert.deepEqual(copies, [`${file}.job-companion-${stamp}.bak`, `${file}.job-companion-${stamp}-2.bak`]);
  assert.deepEqual(
    copies.map((copy) => readFileSync(copy ?? '', 'utf8')),
    ['1', '2'],
  );
  assert.equal(existsSync(file), false);
});

test('what the newest copy holds already is not copied again, and that copy stays whatever goes wrong', (t) => {
  const { dir, path, write } = makeWorkspace(t, { git: false });
  const file = write('file', 'same');
  const edit = { file, before: 'same', after: 'new', followsLink: false };
  const first = applyEdit(edit, stamp);
  write('file', 'same');
  assert.equal(applyEdit(edit, '20260103T030405Z'), first);
  write('file', 'other');
  const second = applyEdit({ ...edit, before: 'other' }, '20260104T030405Z');
  assert.notEqual(second, first);
  // The newest counts: the order of copies tells a story.
  write('file', 'same');
  const third = applyEdit(edit, '20260105T030405Z');
  assert.ok(![first, second].includes(third));
  write('file', 'same');
  const there = readdirSync(dir);
  const bad = { file: write('theirs', 'theirs'), before: 'ours', after: 'x', followsLink: false };
  assert.equal(refusal(() => applyAll([edit, bad], stamp)).code, 'busy');
  assert.deepEqual(readdirSync(dir), [...there, 'theirs']);
  assert.equal(readFileSync(path('file'), 'utf8'), 'same');
});

test('copies go where the caller says, private whatever the file is, and a link there is none', (t) => {
  const { dir, path, write } = makeWorkspace(t, { git: false });
  const file = write('w/file', 'old');
  chmodSync(file, 0o644);
  const edit = { file, before: 'old', after: 'new', followsLink: false, copyBase: path('s/t/name') };
  const copy = applyEdit(edit, stamp) ?? '';
  assert.equal(copy, `${path('s/t/name')}.job-companion-${stamp}.bak`);
  assert.deepEqual(
    [copy, path('s/t'), path('s')].map((one) => statSync(one).mode & 0o777),
    [0o600, 0o700, 0o700],
  );
  assert.deepEqual(readdirSync(path('w')), ['file']);
  symlinkSync(copy, `${path('s/t/name')}.job-companion-20270102T030405Z.bak`);
  write('w/file', 'old');
  assert.equal(applyEdit(edit, '20270103T030405Z'), `${path('s/t/name')}.job-companion-20270103T030405Z.bak`);
  assert.deepEqual(readdirSync(dir).sort(), ['s', 'w']);
});

test('what somebody else changed in the meantime is refused and stays', (t) => {
  const { dir, write } = makeWorkspace(t, { git: false });
  const file = write('file', 'theirs');
  for (const before of ['ours', 'their', 'theirs!', null]) {
    assert.equal(refusal(() => applyEdit({ file, before, after: 'new', followsLink: false }, stamp)).code, 'busy');
  }
  assert.equal(readFileSync(file, 'utf8'), 'theirs');
  assert.deepEqual(readdirSync(dir), ['file']);
});

test('a link is followed only where that was asked for, and stays a link', (t) => {
  const { path, write } = makeWorkspace(t, { git: false });
  const real = write('real/file', 'old');
  symlinkSync(real, path('link'));
  const edit = { file: path('link'), before: 'old', after: 'new' };
  assert.equal(refusal(() => applyEdit({ ...edit, followsLink: false }, stamp)).code, 'preflight');
  assert.equal(readFileSync(real, 'utf8'), 'old');
  assert.equal(applyEdit({ ...edit, followsLink: true }, stamp), `${path('link')}.job-companion-${stamp}.bak`);
  assert.equal(readFileSync(real, 'utf8'), 'new');
  assert.deepEqual(readdirSync(path('real')), ['file']);
});

test('a folder is refused', (t) => {
  const { path } = makeWorkspace(t, { git: false });
  mkdirSync(path('folder'));
  const edit = { file: path('folder'), before: '', after: 'x', followsLink: false };
  assert.equal(refusal(() => applyEdit(edit, stamp)).code, 'preflight');
});

test('a file of another user is refused', { skip: process.getuid?.() !== 0 && 'only root can make one' }, (t) => {
  const { write } = makeWorkspace(t, { git: false });
  const file = write('file', 'old');
  chownSync(file, 12345, 12345);
  assert.equal(
    refusal(() => applyEdit({ file, before: 'old', after: 'x', followsLink: false }, stamp)).code,
    'preflight',
  );
  assert.equal(readFileSync(file, 'utf8'), 'old');
});

/** Three sound edits (made, changed, removed) around one that fails only when it is put in place. */
function threeAndOne(t: TestContext, bad: (write: (name: string, text: string) => string) => FileEdit) {
  const { dir, path, write } = makeWorkspace(t, { git: false });
  const changed = write('changed', 'old');
  chmodSync(changed, 0o640);
  const sound: FileEdit[] = [
    { file: path('made'), before: null, after: 'new', followsLink: false },
    { file: changed, before: 'old', after: 'new', followsLink: false },
    { file: write('removed', 'gone'), before: 'gone', after: null, followsLink: false },
  ];
  const edits = [...sound, bad(write)];
  const before = readdirSync(dir, { recursive: true });
  return { dir, path, edits, before };
}

function assertUnchanged({ dir, path, before }: ReturnType<typeof threeAndOne>): void {
  assert.deepEqual(readdirSync(dir, { recursive: true }).sort(), before.sort());
  assert.deepEqual([readFileSync(path('changed'), 'utf8'), readFileSync(path('removed'), 'utf8')], ['old', 'gone']);
  assert.equal(statSync(path('changed')).mode & 0o777, 0o640);
}

test('when one of several cannot be put in place, all stay as they were, and it is named', (t) => {
  // The second of two edits that make the same file.
  const place = threeAndOne(t, (write) => {
    const file = write('there/x', '');
    return { file: `${dirname(file)}/twice`, before: null, after: '1', followsLink: false };
  });
  const twice = place.edits[3] as FileEdit;
  const { message } = refusal(() => applyAll([...place.edits, { ...twice, after: '2' }], stamp));
  assert.ok(message.includes(twice.file), message);
  assertUnchanged(place);
});

test('a file that its owner has locked against changes leaves the others as they were', (t) => {
  let lock: string | undefined;
  const place = threeAndOne(t, (write) => {
    lock = write('locked', 'old');
    return { file: lock, before: 'old', after: 'new', followsLink: false };
  });
  try {
    execFileSync('chattr', ['+i', lock ?? ''], { stdio: 'ignore' });
  } catch {
    return t.skip('chattr +i does not work here');
  }
  try {
    const { code, message } = refusal(() => applyAll(place.edits, stamp));
    assert.equal(code, 'preflight');
    assert.match(message, /^cannot change \S+\/locked: .*EPERM/);
    assertUnchanged(place);
  } finally {
    execFileSync('chattr', ['-i', lock ?? '']);
  }
});

test('one that is refused keeps the others from being touched', (t) => {
  const place = threeAndOne(t, (write) => ({
    file: write('theirs', 'theirs'),
    before: 'ours',
    after: 'x',
    followsLink: false,
  }));
  assert.equal(refusal(() => applyAll(place.edits, stamp)).code, 'busy');
  assertUnchanged(place);
});
