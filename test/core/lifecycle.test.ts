// Every cell of the lifecycle table.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Lifecycle } from '../../companion/src/core/job.ts';
import { type LifecycleEvent, transition } from '../../companion/src/core/lifecycle.ts';

const events: readonly LifecycleEvent[] = ['claimed', 'started', 'stop_asked', 'concluded'];
const cells: Record<Lifecycle, readonly Lifecycle[]> = {
  queued: ['starting', 'running', 'stopping', 'ended'],
  starting: ['starting', 'running', 'stopping', 'ended'],
  running: ['running', 'running', 'stopping', 'ended'],
  stopping: ['stopping', 'stopping', 'stopping', 'ended'],
  ended: ['ended', 'ended', 'ended', 'ended'],
};

for (const [from, row] of Object.entries(cells) as [Lifecycle, readonly Lifecycle[]][]) {
  events.forEach((event, column) => {
    test(`${event} while ${from} leads to ${row[column]}`, () => {
      assert.equal(transition(from, event), row[column]);
    });
  });
}
