/**
 * S3, how long a model may sleep between two iterations; and a risky milestone.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { parseReply, run } from '../../helpers/companion.ts';
import { expectCode, makeLoop } from '../../helpers/loop.ts';
import { makeWorkspace } from '../../helpers/workspace.ts';

interface Pace {
  seconds: number;
  range: [number, number];
  reason: string;
}

async function paceOf(t: TestContext, ...args: string[]): Promise<Pace> {
  return parseReply<Pace>(
    await expectCode(0, run(makeWorkspace(t), ['loop', 'pace', '--json', '--waiting-on', ...args])),
  );
}

test('S3.16 every kind of waiting has a number within its range, and that within 60 to 1800 s', async (t) => {
  for (const what of ['external', 'minutes5', 'long', 'tracked', 'human', 'none']) {
    const { seconds, range } = await paceOf(t, what);
    assert.ok(seconds >= range[0] && seconds <= range[1] && range[0] >= 60 && range[1] <= 1800, `${what}: ${seconds}`);
  }
});

test('S3.17 CI or a deploy is 60 to 270 s', async (t) => {
  assert.deepEqual((await paceOf(t, 'external')).range, [60, 270]);
});

test('S3.18 about five minutes is 270 s and never 300', async (t) => {
  assert.equal((await paceOf(t, 'minutes5')).seconds, 270);
});

test('S3.19 a heartbeat is 1200 to 1800 s', async (t) => {
  assert.deepEqual((await paceOf(t, 'long')).range, [1200, 1800]);
});

test('S3.20 behind a tracked job is at least 1200 s', async (t) => {
  assert.ok((await paceOf(t, 'tracked')).seconds >= 1200);
});

test('S3.49 a person is 1800 s; a number out of range needs a reason, which is told', async (t) => {
  assert.equal((await paceOf(t, 'human')).seconds, 1800);
  const refused = await run(makeWorkspace(t), ['loop', 'pace', '--waiting-on', 'none', '--seconds', '3600']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /outside 60 to 1800 s a --reason is needed/);
  const given = await paceOf(t, 'none', '--seconds', '3600', '--reason', 'night');
  assert.deepEqual([given.seconds, given.reason], [3600, 'night']);
  const at = await makeLoop(t);
  await expectCode(0, at.loop('pace', '--waiting-on', 'none', '--seconds', '3600', '--reason', 'night'));
  assert.match(at.read('.loop/journal.md'), /pause of 3600 s \(none\): night/);
});

test('S3.47 a risky milestone is NO-GO until a review of it approves; a standard one needs none', async (t) => {
  const at = await makeLoop(t, ['--risky', 'm1']);
  await at.iterate();
  const without = await at.gate();
  assert.deepEqual([without.code, without.failed_checks], [3, ['E2b']]);
  assert.match(without.fixes[0]?.what ?? '', /m1 is risky and has no finished review/);
  const answer = (verdict: string) => JSON.stringify({ verdict, summary: 's', findings: [] });
  const review = async (verdict: string) => {
    at.write('../reviewer.sh', `#!/bin/sh\ncat >/dev/null\nprintf '%s' '${answer(verdict)}'\n`);
    const config = { backends: { reviewer: { argv: ['sh', at.path('../reviewer.sh')] } } };
    at.write('../home/.config/job-companion/config.json', JSON.stringify(config));
    const words = [
      'review',
      '--backend',
      'reviewer',
      '--milestone',
      'm1',
      '--schema',
      '--profile',
      'unrestricted',
      '--prompt',
      'Look.',
      '--wait',
    ];
    await expectCode(0, run(at, words));
  };
  await review('changes_requested');
  assert.match((await at.gate()).fixes[0]?.what ?? '', /says changes_requested/);
  await review('approve');
  assert.equal((await at.gate()).code, 2);
});
