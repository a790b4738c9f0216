// Our own SHA-256 and HMAC give what node:crypto gives, at every length around the block borders.
import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import test from 'node:test';
import { hmacSha256, sha256, toHex } from '../../companion/src/core/sha256.ts';

test('sha256 gives what node:crypto gives for every length up to 300 and for long texts', () => {
  for (const length of [...Array(301).keys(), 4095, 4096, 65_537]) {
    const data = randomBytes(length);
    assert.equal(toHex(sha256(data)), createHash('sha256').update(data).digest('hex'), `length ${length}`);
  }
});

test('hmacSha256 gives what node:crypto gives for short, full and long keys', () => {
  for (const keyLength of [0, 1, 32, 63, 64, 65, 200]) {
    for (const length of [0, 1, 55, 56, 64, 1000]) {
      const [key, data] = [randomBytes(keyLength), randomBytes(length)];
      assert.equal(toHex(hmacSha256(key, data)), createHmac('sha256', key).update(data).digest('hex'));
    }
  }
});
