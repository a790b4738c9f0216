/**
 * A day at 1/1000 of its times: 86.4 s, an "hour" is 3.6 s. The probe counts how often it was asked, so that what it says at each
 * checkpoint does not depend on how fast this machine is; times are compared with each other only.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Checkpoint } from '../../companion/src/core/health-words.ts';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { launchHeld } from '../helpers/jobs.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const every = 3600;

test('a day at 1/1000: 24 checkpoints, one event each, without drift, with the right states and estimates', async (t) => {
  const workspace = makeWorkspace(t);
  const asked = join(workspace.base, 'asked');
  // 1 to 8 advance by 40; 9 to 12 stand still; from 13 on by 60 in another phase; 20 breaks.
  const line = [
    `echo x >>${asked}; n=$(wc -l <${asked})`,
    'if [ $n -le 8 ]; then c=$((n * 40)); elif [ $n -le 12 ]; then c=320; else c=$((320 + (n - 12) * 60)); fi',
    '[ $n -eq 20 ] && { echo broken; exit 0; }',
    'p=load; [ $n -gt 12 ] && p=train',
    'echo "{\\"completed\\":$c,\\"total\\":2000,\\"phase\\":\\"$p\\"}"',
  ].join('; ');
  const options = ['--checkpoint-every', `${every}ms`, '--sample-every', '400ms', '--probe', line, '--timeout', '10m'];
  const job = await launchHeld(workspace, { options });
  const told = () => job.events('checkpoint') as unknown as (Checkpoint & { wake: string[] })[];
  await eventually('checkpoint 24', () => (told().at(-1)?.n ?? 0) >= 24, { limitMs: 200_000, everyMs: 200 });
  const launchMs = Date.parse(job.state().created_at);
  job.release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);

  const all = told().slice(0, 24);
  assert.deepEqual(
    all.map(({ n }) => n),
    Array.from({ length: 24 }, (_, index) => index + 1),
  );
  assert.equal(readFileSync(asked, 'utf8').length / 2, told().length);
  for (const { n, at, elapsed_seconds } of all) {
    // Within its own interval: lateness does not add up.
    const ms = Date.parse(at) - launchMs;
    assert.ok(ms >= n * every - 100 && ms < (n + 1) * every, `checkpoint ${n} after ${ms} ms`);
    assert.ok(Math.abs(elapsed_seconds - ms / 1000) <= 2, `${elapsed_seconds} s after ${ms} ms`);
  }
  const states = all.map(({ state }) => state);
  assert.deepEqual(states.slice(0, 9), ['unknown', ...Array(7).fill('progressing'), 'unknown']);
  assert.deepEqual(
    states.slice(9, 12),
    Array(3)
      .fill(process.platform === 'linux' ? 'attention' : 'unknown')
      .slice(0, 3),
  );
  assert.deepEqual(states.slice(12), [...Array(7).fill('progressing'), 'unknown', ...Array(4).fill('progressing')]);
  assert.match(
    all[12]?.reason ?? '',
    /completed went from 320 to 380 of 2000; the phase changed from "load" to "train"/,
  );
  // One cause, one wake.
  if (process.platform === 'linux')
    assert.deepEqual(
      all.flatMap(({ n, wake }) => (wake.includes('attention') ? [n] : [])),
      [10],
    );
  let steps: number[] = [];
  for (const [index, one] of all.entries()) {
    // After the broken answer the rate is that of the two intervals since the last good one.
    const before = index === 20 ? all[18] : all[index - 1];
    const gain = (one.completed ?? 0) - (before?.completed ?? Number.POSITIVE_INFINITY);
    if (one.completed === null || !(gain > 0)) {
      assert.equal(one.eta_seconds, null, `checkpoint ${one.n}`);
      continue;
    }
    const span = (Date.parse(one.at) - Date.parse(before?.at ?? '')) / 1000;
    // The four that stood still begin a new rate. It lies between that of the fastest interval and that of the slowest.
    steps = index === 12 ? [span / gain] : [...steps, span / gain];
    const [least, most] = [Math.min(...steps), Math.max(...steps)].map((step) => (2000 - (one.completed ?? 0)) * step);
    const eta = one.eta_seconds ?? -1;
    assert.ok(
      eta >= least! * 0.95 - 2 && eta <= most! * 1.05 + 2,
      `checkpoint ${one.n}: ${eta} in ${least} to ${most}`,
    );
  }
});
