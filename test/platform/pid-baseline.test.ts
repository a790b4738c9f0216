// Which pids may be newer than a moment: all of them, as soon as a pid could have been used twice.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type PidBaseline, pidsSince, takeBaseline } from '../../companion/src/platform/pid-baseline.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { startProgram } from './child-program.ts';

const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc here' };

function take(): PidBaseline {
  const baseline = takeBaseline();
  assert.ok(baseline);
  return baseline;
}

test('only processes that came after the baseline are newer', onLinux, (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const before = startProgram(workspace, ['/bin/cat']);
  const baseline = take();
  const after = startProgram(workspace, ['/bin/cat']);
  const newer = pidsSince(baseline);
  assert.ok(newer.includes(after.identity.pid));
  assert.ok(!newer.includes(before.identity.pid) && !newer.includes(process.pid));
});

test('without a baseline, and when the pid counter may have gone around, everything is newer', onLinux, () => {
  const baseline = take();
  const cases: (PidBaseline | null)[] = [
    null,
    { ...baseline, lastPid: 2 ** 22 + 1 },
    { ...baseline, forks: baseline.forks - 2 ** 22 },
    { ...baseline, forks: Number.NaN },
  ];
  for (const one of cases) assert.ok(pidsSince(one).includes(process.pid), JSON.stringify(one?.forks));
});
