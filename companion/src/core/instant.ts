// Instants as the command line takes them: ISO-8601 with `Z` or an offset, so that one text means one instant everywhere. What is no date
// is refused, never rolled over into the next month. Pure.
import { usageError } from './errors.ts';

const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?$/;

/** An hour from `now` on: an example that is right whenever it is read. */
export function exampleInstant(now: number): string {
  return new Date(Math.ceil(now / 60_000 + 60) * 60_000).toISOString().replace('.000Z', 'Z');
}

/** ms since 1970; a fraction of a ms counts up, so that nothing happens before its instant. Throws 'usage'; `now` is for its example. */
export function parseInstant(text: string, now: number): number {
  const example = exampleInstant(now);
  const allowed = `allowed are instants like ${example} or ${example.replace('Z', '+00:00')}`;
  const refused = (why: string) => usageError(`cannot read the instant ${JSON.stringify(text)}: ${why}; ${allowed}`);
  const parts = form.exec(text);
  if (!parts) throw refused('it is no ISO-8601 instant');
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const [, , , , hourText, , , fraction = '', zulu, sign, ahead, aheadMinutes = '0'] = parts;
  if (hourText === undefined) throw refused('the time of the day is missing');
  if (zulu === undefined && sign === undefined)
    throw refused('it says no Z and no offset, so it could be another instant on another machine');
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) throw refused('there is no such day');
  if (hour > 23 || minute > 59 || second > 59) throw refused('there is no such time of the day');
  const offset = sign === undefined ? 0 : Number(ahead) * 60 + Number(aheadMinutes);
  if (offset > 14 * 60 || Number(aheadMinutes) > 59) throw refused('there is no such offset');
  const local = Date.UTC(year, month - 1, day, hour, minute, second) + Math.ceil(Number(`0.${fraction || 0}`) * 1000);
  return local - (sign === '-' ? -offset : offset) * 60_000;
}

type Six = [number, number, number, number, number, number];

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}
