// A gate whose worker was killed after it had counted: its replacement says what the first one would have said.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { evaluate } from '../../companion/src/loop/evaluate.ts';
import { sealState, writeState } from '../../companion/src/loop/files.ts';
import { loopPlace } from '../../companion/src/loop/place.ts';
import { freshState } from '../../companion/src/loop/plan.ts';

test('a round that this gate has counted is not held against it; one of another gate is', async (t) => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'loop-evaluate-')));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, '.loop'));
  const place = loopPlace(folder, { folder: path.join(folder, '.job-state'), option: [] });
  const gate = { verdict: 'NO-GO' as const, iteration: 0, at: new Date(0).toISOString(), job: 'gate-a' };
  // No milestone, no verify command, no journal: it cannot be good.
  writeState(place, sealState({ ...freshState('goal'), remediation_rounds: 2, gate }));
  const asked = { runCommands: false, environment: {} };
  const same = await evaluate(place, { ...asked, gate: 'gate-a' });
  assert.deepEqual([same.verdict, same.remediation_rounds], ['NO-GO', 1]);
  const other = await evaluate(place, { ...asked, gate: 'gate-b' });
  assert.deepEqual([other.verdict, other.reason], ['STOP', 'remediation_exhausted']);
});
