// The order of versions, by the examples of its own specification and some more.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compareVersions } from '../../companion/src/core/version-order.ts';

const ascending = [
  ...['0.9.9', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11'],
  ...['1.0.0-rc.1', '1.0.0', '1.0.9', '1.0.10', '1.10.0', '2.0.0', '10.0.0'],
];

test('every version is lower than all that follow it, and equal to itself', () => {
  for (const [index, version] of ascending.entries()) {
    assert.equal(compareVersions(version, version), 0);
    for (const higher of ascending.slice(index + 1)) {
      assert.ok(compareVersions(version, higher) < 0, `${version} < ${higher}`);
      assert.ok(compareVersions(higher, version) > 0, `${higher} > ${version}`);
    }
  }
});

test('what follows a + does not count', () => {
  assert.equal(compareVersions('1.0.0+a', '1.0.0+b'), 0);
  assert.equal(compareVersions('1.0.0-x+a', '1.0.0-x'), 0);
});
