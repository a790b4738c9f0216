// Sizes: whole bytes or powers of 1024, within the option's range.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { limits } from '../../companion/src/core/limits.ts';
import { formatSize, parseSize } from '../../companion/src/core/size.ts';

const any = { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER };

test('a size is read as bytes, or in K, M and G of 1024, with or without B', () => {
  const read: [string, number][] = [
    ['0', 0],
    ['1234', 1234],
    ['4096B', 4096],
    ['512K', 524_288],
    ['64M', 67_108_864],
    ['64MB', 67_108_864],
    ['64MiB', 67_108_864],
    ['1G', 1_073_741_824],
  ];
  for (const [text, bytes] of read) assert.equal(parseSize(text, '--max-output', any), bytes, text);
});

test('what is no size is refused with what came and what is allowed', () => {
  for (const text of [
    '',
    '-1',
    '+1',
    '1.5M',
    '1 M',
    '64m',
    '1T',
    'M',
    '1e6',
    '0x10',
    '64M\n',
    `${'9'.repeat(400)}`,
    '9007199254740993',
  ]) {
    assert.throws(
      () => parseSize(text, '--max-output', limits.maxOutput),
      (error) => {
        assert.ok(error instanceof FaultError);
        assert.equal(error.code, 'usage');
        assert.equal(
          error.message,
          `cannot take --max-output ${JSON.stringify(text)}: allowed are 1.0 MiB to 64.0 GiB, written like 64M`,
        );
        return true;
      },
    );
  }
});

test('both ends of the range are allowed and one byte beyond either is not', () => {
  const range = { default: 10, min: 10, max: 20 };
  assert.equal(parseSize('10', '--x', range), 10);
  assert.equal(parseSize('20', '--x', range), 20);
  for (const text of ['9', '21', '1K']) assert.throws(() => parseSize(text, '--x', range), FaultError);
});

test('a size is shown in the largest unit that fits', () => {
  const shown: [number, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [67_108_864, '64.0 MiB'],
    [1_610_612_736, '1.5 GiB'],
  ];
  for (const [bytes, text] of shown) assert.equal(formatSize(bytes), text);
});
