// Which event wakes: the oldest cause first, of plain checkpoints the newest, nothing twice, and nothing that was not asked for.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JobEvent, Wake } from '../../companion/src/core/events.ts';
import { maxSeq, parseUntil, WakeChoice, type Wanted } from '../../companion/src/core/wakes.ts';

const event = (seq: number, ...wake: Wake[]) =>
  ({ seq, at: 'x', job: 'j', owner: null, type: 'checkpoint', ...(wake.length > 0 ? { wake } : {}) }) as JobEvent;

function choose(events: JobEvent[], wanted: Wanted[], after = 0) {
  const choice = new WakeChoice(wanted, after);
  for (const one of events) choice.add(one);
  const chosen = choice.chosen();
  return chosen && [chosen.event.seq, chosen.wake, chosen.pending];
}

const [plain, cause]: Wake[][] = [['checkpoint'], ['checkpoint', 'attention']];

test('of plain checkpoints the newest wakes: it says what the older ones said', () => {
  assert.deepEqual(choose([event(3, ...plain!), event(4), event(5, ...plain!)], ['checkpoint']), [5, 'checkpoint', 0]);
});

test('the oldest cause comes before any plain checkpoint, and the further ones are counted', () => {
  const events = [event(3, ...plain!), event(4, ...cause!), event(5, ...plain!), event(6, ...cause!)];
  assert.deepEqual(choose(events, ['checkpoint', 'attention']), [4, 'attention', 2]);
  assert.deepEqual(choose(events, ['attention']), [4, 'attention', 1]);
  assert.deepEqual(choose(events, ['checkpoint']), [4, 'checkpoint', 2]);
});

test('older plain checkpoints that are passed over are counted', () => {
  const skipped = (events: JobEvent[], wanted: Wanted[]) => {
    const choice = new WakeChoice(wanted, 0);
    for (const one of events) choice.add(one);
    return choice.chosen()?.skipped;
  };
  const events = [event(3, ...plain!), event(4, ...plain!), event(5, ...plain!)];
  assert.equal(skipped(events, ['checkpoint']), 2);
  assert.equal(skipped([...events, event(6, ...cause!), event(7, ...plain!)], ['checkpoint', 'attention']), 3);
  assert.equal(skipped([event(3, 'news'), ...events], ['news']), 0);
});

test('a cursor goes through all causes one by one, and ends', () => {
  const events = [
    event(1, 'news'),
    event(2, ...cause!),
    event(3, 'handback'),
    event(4, ...plain!),
    event(5, ...plain!),
  ];
  const seen: unknown[] = [];
  for (let after = 0, rounds = 0; rounds < 9; rounds += 1) {
    const chosen = choose(events, ['checkpoint', 'attention', 'handback', 'news'], after);
    if (!chosen) break;
    seen.push(chosen);
    after = chosen[0] as number;
  }
  assert.deepEqual(seen, [
    [1, 'news', 4],
    [2, 'attention', 3],
    [3, 'handback', 2],
    [5, 'checkpoint', 0],
  ]);
});

test('what was not asked for, was known, or has no wake or an odd one does not wake', () => {
  const odd = [{ ...event(7), wake: 'attention' }, { ...event(8), wake: { 0: 'attention' } }, event(9)];
  assert.equal(choose(odd as JobEvent[], ['attention']), undefined);
  assert.equal(choose([event(2, ...plain!)], ['attention', 'news']), undefined);
  assert.equal(choose([event(2, 'news')], ['news'], 2), undefined);
  assert.equal(choose([event(2, 'terminal')], ['news']), undefined);
});

test('an event with a number that no journal of ours reaches does not wake, so no cursor gets there', () => {
  for (const seq of [1e300, maxSeq + 1, 1.5, -1, Number.NaN])
    assert.equal(choose([event(seq, 'news')], ['news'], -5), undefined);
});

test('the words of --until: each once, terminal is always meant, others are refused with the list', () => {
  assert.deepEqual(parseUntil('terminal'), []);
  assert.deepEqual(parseUntil('attention,terminal,checkpoint,attention'), ['attention', 'checkpoint']);
  for (const text of ['', 'attention,', 'Attention', 'attention checkpoint', 'soft_timeout'])
    assert.throws(
      () => parseUntil(text),
      /cannot wait until .*: allowed are terminal, checkpoint, attention, handback, news/,
    );
});
