/**
 * The unattended loop with a real agent CLI behind the scripted model: three milestones, the second breaks the tests once and is mended in the
 * same conversation; three commits, a green gate, a journal that says so, and it ends by itself. Also when its worker is killed on the way.
 */
import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, killNow } from '../helpers/jobs.ts';
import { commits, makeLoop, milestones } from '../helpers/loop-run.ts';
import { isAlive } from '../helpers/process.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { makeAgentLab } from '../lab/agent-lab.ts';
import { profile as codex } from '../lab/agents/codex/profile.ts';
import { profile as pi } from '../lab/agents/pi/profile.ts';
import type { LabProfile } from '../lab/agents/profile.ts';

async function makeRun(t: TestContext, profile: LabProfile) {
  const workspace = makeWorkspace(t);
  const lab = await makeAgentLab(workspace, profile, 'loop');
  await makeLoop(workspace);
  const env = lab.env;
  const launched = await run(workspace, ['loop', 'run', '--id-only', '--backend', profile.id], { env });
  assert.equal(launched.code, 0, launched.stderr);
  const id = launched.stdout.trim();
  const wait = (patience: string) => run(workspace, ['wait', id, '--timeout', patience], { env, limitMs: 400_000 });
  const job = findJob(workspace, id);
  const assertDone = async () => {
    const ended = await wait('6m');
    assert.equal(ended.code, 0, `${ended.stdout}\n${ended.stderr}\n${JSON.stringify(job.events('step'))}`);
    assert.deepEqual(
      commits(workspace),
      milestones.map((name) => `feat(${name}): write ${name}`),
    );
    for (const name of milestones) assert.equal(workspace.read(`${name}.txt`), 'ok\n');
    assert.match(workspace.read('.loop/journal.md'), /1 round of mending[\s\S]*STOP: finished/);
    const gates = await run(workspace, ['status', '--kind', 'gate', '--json'], { env });
    const states = (JSON.parse(gates.stdout).jobs as { state: string }[]).map(({ state }) => state);
    assert.deepEqual(states, ['done', 'done', 'done']);
  };
  return { workspace, job, wait, assertDone };
}

for (const profile of [pi, codex]) {
  test(`${profile.id} works through three milestones unattended, and mends what it broke`, async (t) => {
    const { assertDone } = await makeRun(t, profile);
    await assertDone();
  });
}

test('pi: the worker of the loop is killed in each of its first steps, and the tree is the same', async (t) => {
  const { job, wait, assertDone } = await makeRun(t, pi);
  const killed = new Set<string>();
  for (const step of ['execute', 'gate', 'execute', 'remediate']) {
    await eventually(
      `the step ${step}`,
      async () => {
        const worker = job.has('worker.json') ? job.identity('worker') : null;
        if (!worker || !isAlive(worker)) {
          utimesSync(job.path('launch.json'), 1, 1);
          await wait('50ms');
          return false;
        }
        const now = job.state().loop;
        const words = `${now?.step} ${now?.iteration}`;
        if (now?.step !== step || killed.has(words)) return false;
        killed.add(words);
        await killNow('the worker of the loop', worker);
        return true;
      },
      { limitMs: 120_000, everyMs: 20 },
    );
  }
  assert.equal(killed.size, 4);
  utimesSync(job.path('launch.json'), 1, 1);
  await assertDone();
});
