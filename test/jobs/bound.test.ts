// When a hard limit is reached: from launch, or from the turn of a job that was queued; on the clock of its boot, or on the wall.
import assert from 'node:assert/strict';
import test from 'node:test';
import { boundOf, isPastBound, specAtTurn, wallBoundOf } from '../../companion/src/jobs/bound.ts';
import { monotonicMs } from '../../companion/src/platform/clock.ts';
import { bootId, ownIdentity } from '../../companion/src/platform/identity.ts';
import { makeSpec } from '../store/job-record.ts';

const spec = makeSpec({ deadline_ms: 1000, deadline_mono_ms: 5000 });
const queued = { ...spec, max_live: 2 };
const turn = { at: new Date(Date.now() - 400).toISOString(), boot_id: bootId(), mono_ms: 70_000, files: {} };
const earlier = { ...turn, boot_id: 'another' };
const near = (value: number, expected: number): void =>
  assert.ok(Math.abs(value - expected) < 300, `${value} ~ ${expected}`);

test('the limit of a job without a queue counts from its launch', () => {
  assert.equal(boundOf(spec, null), 5000);
  assert.equal(wallBoundOf(spec, null), Date.parse(spec.created_at) + 1000);
  assert.equal(isPastBound(spec, null), true);
});

test('a job that waits for its turn has no limit yet, whatever the boot', () => {
  const old = { ...queued, launcher: { ...ownIdentity(), boot_id: 'another' } };
  for (const one of [queued, old]) {
    assert.deepEqual(
      [boundOf(one, null), wallBoundOf(one, null)],
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    );
    assert.equal(isPastBound(one, null), false);
  }
});

test('a timer is armed at once: --max-live does not take its limit away', () => {
  assert.equal(boundOf({ ...queued, kind: 'timer' }, null), 5000);
});

test('the limit of a job that had its turn counts from there, after a restart of the machine on the wall clock', () => {
  assert.equal(boundOf(queued, turn), 71_000);
  assert.equal(wallBoundOf(queued, turn), Date.parse(turn.at) + 1000);
  near(boundOf(queued, earlier), monotonicMs() + 600);
});

test('the request as it counts from the turn has its limit and its files, and nothing else changes', () => {
  const files = { success_files: [{ path: '/out', before: null }] };
  const at = specAtTurn(queued, { ...turn, files });
  assert.deepEqual(at, { ...queued, deadline_mono_ms: 71_000, run: { ...queued.run, ...files } });
  assert.equal(specAtTurn(queued, null), queued);
  const watch = { ...queued, kind: 'watch' as const, run: null };
  assert.deepEqual(specAtTurn(watch, turn), { ...watch, deadline_mono_ms: 71_000 });
});
