// Instants as callers write them: one text is one instant everywhere, and what is no date is refused, never rolled over.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FaultError } from '../../companion/src/core/errors.ts';
import { parseInstant } from '../../companion/src/core/instant.ts';

const now = Date.parse('2026-05-04T23:29:30.500Z');

const sound: [text: string, iso: string][] = [
  ['2030-01-31T09:30:00Z', '2030-01-31T09:30:00.000Z'],
  ['2030-01-31T09:30Z', '2030-01-31T09:30:00.000Z'],
  ['2030-01-31t09:30:00z', '2030-01-31T09:30:00.000Z'],
  ['2030-01-31 09:30:00Z', '2030-01-31T09:30:00.000Z'],
  ['2030-01-31T09:30:00.25Z', '2030-01-31T09:30:00.250Z'],
  // Never before its instant.
  ['2030-01-31T09:30:00.000000001Z', '2030-01-31T09:30:00.001Z'],
  ['2030-12-31T23:59:59.999999999Z', '2031-01-01T00:00:00.000Z'],
  ['2030-01-31T10:30:00+01:00', '2030-01-31T09:30:00.000Z'],
  ['2030-01-31T10:30+0100', '2030-01-31T09:30:00.000Z'],
  ['2030-01-31T10:30+01', '2030-01-31T09:30:00.000Z'],
  ['2030-01-01T00:15+05:30', '2029-12-31T18:45:00.000Z'],
  ['2030-01-31T01:30:00-08:00', '2030-01-31T09:30:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
];

for (const [text, iso] of sound) {
  test(`${text} is ${iso}`, () => assert.equal(new Date(parseInstant(text, now)).toISOString(), iso));
}

const refused: [text: string, why: RegExp][] = [
  ['2030-01-31T09:30:00', /says no Z and no offset/],
  ['2030-01-31', /the time of the day is missing/],
  ['2030-01-31Z', /the time of the day is missing/],
  ['2030-02-30T00:00:00Z', /no such day/],
  ['2029-02-29T00:00:00Z', /no such day/],
  ['2100-02-29T00:00:00Z', /no such day/],
  ['2030-04-31T00:00:00Z', /no such day/],
  ['2030-13-01T00:00:00Z', /no such day/],
  ['2030-00-01T00:00:00Z', /no such day/],
  ['2030-01-00T00:00:00Z', /no such day/],
  ['2030-01-01T25:00:00Z', /no such time of the day/],
  ['2030-01-01T24:00:00Z', /no such time of the day/],
  ['2030-01-01T23:60:00Z', /no such time of the day/],
  ['2030-01-01T23:59:60Z', /no such time of the day/],
  ['2030-01-01T00:00:00+14:01', /no such offset/],
  ['2030-01-01T00:00:00+01:60', /no such offset/],
  ['2030-01-01T00:00:00.0000000001Z', /no ISO-8601 instant/],
  ['2030-1-1T00:00:00Z', /no ISO-8601 instant/],
  ['+002030-01-01T00:00:00Z', /no ISO-8601 instant/],
  ['2030-01-01T00:00:00Z ', /no ISO-8601 instant/],
  ['2030-01-01T00:00:00 UTC', /no ISO-8601 instant/],
  ['1893456000', /no ISO-8601 instant/],
  ['tomorrow', /no ISO-8601 instant/],
  ['', /no ISO-8601 instant/],
];

for (const [text, why] of refused) {
  test(`${JSON.stringify(text)} is refused with the reason and an example`, () => {
    assert.throws(
      () => parseInstant(text, now),
      (error: unknown) =>
        error instanceof FaultError &&
        error.code === 'usage' &&
        why.test(error.message) &&
        /allowed are/.test(error.message),
    );
  });
}
