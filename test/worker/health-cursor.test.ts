// What the judgement of a run leaves for the next worker, and what becomes of it when the worker died half-way or somebody wrote into it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { freshMemory } from '../../companion/src/core/health.ts';
import { openJournal } from '../../companion/src/store/journal.ts';
import { readMemory, rememberedOf } from '../../companion/src/worker/health-cursor.ts';
import { makeJob, makePlace, makeSpec } from '../store/job-record.ts';

function begin(t: TestContext) {
  const paths = makeJob(makePlace(t).root, {});
  const journal = openJournal(paths, makeSpec());
  return {
    paths,
    write: (value: unknown) => writeFileSync(paths.cursor, typeof value === 'string' ? value : JSON.stringify(value)),
    tell: (n: unknown, fingerprint: string | null = null) => journal.append('checkpoint', { n, fingerprint }),
  };
}

test('the numbers and what was told go on; what was measured does not', (t) => {
  const { paths, write, tell } = begin(t);
  const memory = { ...freshMemory, n: 7, since: 3, told: ['dead_wait', 'no_change@3'], unchanged: 4, troubles: 2 };
  tell(7, 'dead_wait+no_change@3');
  write(rememberedOf(memory));
  assert.deepEqual(readMemory(paths, 10), { ...freshMemory, n: 7, since: 3, told: ['dead_wait', 'no_change@3'] });
});

test('a cause that lasts while the newest checkpoint does not show it stays told', (t) => {
  const { paths, write, tell } = begin(t);
  tell(7, null);
  write({ n: 7, since: 3, told: ['dead_wait', 'no_change@3'] });
  assert.deepEqual(readMemory(paths, 10).told, ['dead_wait', 'no_change@3']);
});

test('a worker that died before the event loses that checkpoint, and its new cause is not taken for told', (t) => {
  const { paths, write, tell } = begin(t);
  tell(6, 'over_expected');
  write({ n: 7, since: 5, told: ['over_expected', 'dead_wait'] });
  const { n, told } = readMemory(paths, 10);
  assert.deepEqual([n, told], [7, ['over_expected']]);
});

test('without the file the events know the number; without both it begins', (t) => {
  const { paths, tell } = begin(t);
  assert.deepEqual(readMemory(paths, 10), freshMemory);
  tell(4, 'over_expected');
  assert.deepEqual(readMemory(paths, 10), { ...freshMemory, n: 4, told: ['over_expected'] });
});

test('what somebody wrote into it is no more than a number and a few words', (t) => {
  const { paths, write, tell } = begin(t);
  for (const value of [
    'garbage',
    '[]',
    '{"n":-4,"since":1e999,"told":"x"}',
    '{"n":"9","told":[1,{}]}',
    { n: 2 ** 60 },
  ]) {
    write(value);
    assert.deepEqual(readMemory(paths, 10), freshMemory, JSON.stringify(value));
  }
  // A number that has not come yet would silence the judgement for ever.
  write({ n: 4_000_000 });
  assert.equal(readMemory(paths, 10).n, 10);
  tell('many');
  tell(3);
  write({ n: 3, since: 99, told: Array(1000).fill('x') });
  assert.deepEqual(readMemory(paths, 10), { ...freshMemory, n: 3, since: 3, told: Array(8).fill('x') });
});
