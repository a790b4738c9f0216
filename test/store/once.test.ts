// Once-keys: the first claim counts for ever, and the key itself is written nowhere.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { claimOnce } from '../../companion/src/store/once.ts';
import { jobId, makePlace } from './job-record.ts';

const claim = { id: jobId, asked: 'digest', launcher: ownIdentity() };
const other = { ...claim, id: 'run-loyw3v28-000000', asked: 'other' };

test('the first claim of a key is ours, and every later one is told whose it is', (t) => {
  const { root } = makePlace(t);
  assert.deepEqual(claimOnce(root, 'nightly', claim), { isOurs: true, holder: claim });
  assert.deepEqual(claimOnce(root, 'nightly', other), { isOurs: false, holder: claim });
  assert.deepEqual(claimOnce(root, 'nightly', claim), { isOurs: false, holder: claim });
});

test('keys that differ in anything are different, whatever they hold', (t) => {
  const { root } = makePlace(t);
  const keys = [
    'a',
    'A',
    ' a',
    'a ',
    '',
    '../../x',
    '/etc/passwd',
    'a\n',
    '\u00e9',
    'e\u0301',
    'x'.repeat(10_000),
    '.',
    '..',
  ];
  for (const key of keys) assert.equal(claimOnce(root, key, claim).isOurs, true, JSON.stringify(key.slice(0, 20)));
  for (const key of keys) assert.equal(claimOnce(root, key, other).isOurs, false, JSON.stringify(key.slice(0, 20)));
  const names = readdirSync(join(root, 'once'));
  assert.equal(names.length, keys.length);
  for (const name of names) assert.match(name, /^[0-9a-f]{40}$/);
});

test('the file of a key is private and does not hold the key', (t) => {
  const { root } = makePlace(t);
  claimOnce(root, 'a very secret key', claim);
  const file = join(root, 'once', readdirSync(join(root, 'once'))[0]!);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.doesNotMatch(readFileSync(file, 'utf8'), /secret/);
});

test('a damaged key is refused and never taken for free', (t) => {
  const { root, workspace } = makePlace(t);
  claimOnce(root, 'nightly', claim);
  const file = join(root, 'once', readdirSync(join(root, 'once'))[0]!);
  const refused = () =>
    assert.throws(
      () => claimOnce(root, 'nightly', other),
      (error) => {
        assert.ok(error instanceof FaultError);
        assert.equal(error.code, 'state_unusable');
        assert.equal(error.message, `cannot read the once-key file ${file}: it is damaged`);
        return true;
      },
    );
  for (const content of ['', '{', '{}', '[]', '{"id":5,"asked":"x"}', '{"id":"x"}']) {
    writeFileSync(file, content);
    refused();
  }
  // A link is not followed, and its place is not free either.
  writeFileSync(workspace.path('elsewhere'), JSON.stringify(claim));
  rmSync(file);
  symlinkSync(workspace.path('elsewhere'), file);
  refused();
});
