/** The unattended loop on the built file, with a scripted agent: from the first milestone to its own end, and broken off at any moment. */
import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, killNow } from '../helpers/jobs.ts';
import { commits, launchLoop, makeAgent, makeLoop, milestones, waitLoop } from '../helpers/loop-run.ts';
import { isAlive } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const three = milestones.map((id) => `feat(${id}): write ${id}`);

function calls(workspace: Workspace): string[] {
  return readFileSync(join(workspace.home, 'calls'), 'utf8').trim().split('\n');
}

/** Three commits, each with its file and its entry, and nothing twice. */
function assertFinished(workspace: Workspace): void {
  assert.deepEqual(commits(workspace), three);
  for (const id of milestones) {
    assert.equal(workspace.read(`${id}.txt`), 'ok\n');
    const files = workspace.git('show', '--format=', '--name-only', `:/feat.${id}.`).trim().split('\n');
    assert.ok(files.includes(`${id}.txt`) && files.includes('.loop/state.json'), files.join(', '));
  }
  const journal = workspace.read('.loop/journal.md');
  const heads = [...journal.matchAll(/^## Iteration (\d+) -- \S+( \(.*\))?$/gm)].map(
    (found) => `${found[1]}${found[2] ?? ''}`,
  );
  assert.deepEqual(heads, ['1', '2', '3', '3 (stop)']);
  assert.match(journal, /STOP: finished/);
  const state = JSON.parse(workspace.read('.loop/state.json'));
  assert.deepEqual([state.iteration, state.current, state.stopped.reason], [3, null, 'finished']);
  assert.equal(workspace.git('status', '--porcelain', '--', ':!.loop').trim(), '');
}

test('it works through all milestones, has what fails mended, and ends by itself', async (t) => {
  const workspace = makeWorkspace(t);
  makeAgent(workspace);
  await makeLoop(workspace);
  const id = await launchLoop(workspace);
  const { code, record } = await waitLoop(workspace, id);
  const job = findJob(workspace, id);
  assert.equal(code, 0, job.text('result.md'));
  assert.equal(record.state, 'done');
  assertFinished(workspace);
  assert.deepEqual(calls(workspace), ['m1 0', 'm2 0', 'm2 1', 'm3 0']);
  assert.match(job.text('result.md'), /^Loop finished: all 3 milestones are done\n/);
  const told = job.events('step').map(({ step, milestone, round, waits_for }) => {
    return `${step} ${milestone} ${round}${waits_for === null ? '' : ' job'}`;
  });
  assert.equal(new Set(told.slice(0, 5)).size, 5, 'no step is told twice');
  const steps = told.map((line) => line.replace(/ job$/, '')).filter((line, index, lines) => line !== lines[index - 1]);
  assert.deepEqual(steps.slice(0, 13), [
    ...['orient null 0', 'execute m1 0', 'verify m1 0', 'checkpoint m1 0', 'gate m1 0', 'pace m1 0'],
    ...[
      'orient null 0',
      'execute m2 0',
      'verify m2 0',
      'remediate m2 1',
      'verify m2 1',
      'checkpoint m2 1',
      'gate m2 1',
    ],
  ]);
});

test('its worker is killed at twenty moments: the same tree, and nothing is committed twice', async (t) => {
  const workspace = makeWorkspace(t);
  makeAgent(workspace);
  await makeLoop(workspace);
  const job = findJob(workspace, await launchLoop(workspace));
  const seen: string[] = [];
  let kills = 0;
  while (kills < 20) {
    const step = await nextStep(workspace, job, seen);
    if (step === undefined) break;
    seen.push(step.words);
    await killNow('the worker of the loop', step.worker);
    kills += 1;
    await run(workspace, ['wait', job.id, '--timeout', '50ms']);
  }
  utimesSync(job.path('launch.json'), 1, 1);
  const { code } = await waitLoop(workspace, job.id);
  assert.equal(code, 0, `${job.text('result.md')}\nkilled at ${seen.join(', ')}`);
  assert.equal(kills, 20, `only ${kills} moments were met: ${seen.join(', ')}`);
  assertFinished(workspace);
  assert.deepEqual(calls(workspace), ['m1 0', 'm2 0', 'm2 1', 'm3 0'], 'no agent was started twice');
  for (const name of ['execute', 'remediate', 'verify', 'checkpoint', 'gate'])
    assert.ok(
      seen.some((words) => words.startsWith(name)),
      `killed at ${seen.join(', ')}`,
    );
});

/** A living worker in a step in which at most one was killed; each third one is killed some time into its step. */
async function nextStep(workspace: Workspace, job: Job, seen: readonly string[]) {
  const late = seen.length % 3 === 2 ? Math.random() * 400 : 0;
  let since: number | undefined;
  return eventually(
    'the next step of the loop',
    async () => {
      if (job.state().ended_at !== null) return { words: '', worker: null };
      const cursor = job.has('cursor.json') ? job.json<Record<string, unknown>>('cursor.json') : {};
      const { step, iteration, round, job: staff, judge, gate } = cursor;
      const words = `${step} ${iteration} ${round} ${staff ?? ''} ${judge ?? ''} ${gate ?? ''}`;
      const worker = job.has('worker.json') ? job.identity('worker') : null;
      if (!worker || !isAlive(worker)) {
        // Replacements come slower and slower (jobs/attach.ts): as if the last one were long ago.
        utimesSync(job.path('launch.json'), 1, 1);
        await run(workspace, ['wait', job.id, '--timeout', '50ms']);
        return undefined;
      }
      // Twice in one step, at most: the second time its work was begun before.
      if (step === undefined || seen.filter((one) => one === words).length > 1) return undefined;
      since ??= performance.now();
      return performance.now() - since >= late ? { words, worker } : undefined;
    },
    { limitMs: 120_000, everyMs: 5 },
  ).then(({ words, worker }) => (worker === null ? undefined : { words, worker }));
}

test('an agent that does not get it right has two rounds; the loop stops, says why, and commits nothing of it', async (t) => {
  const workspace = makeWorkspace(t);
  makeAgent(workspace, { work: 'echo broken >"$m.txt"; echo tried' });
  await makeLoop(workspace);
  const id = await launchLoop(workspace);
  const { code, record } = await waitLoop(workspace, id);
  assert.deepEqual([code, (record.error as { code: string }).code], [3, 'remediation_exhausted']);
  assert.deepEqual(calls(workspace), ['m1 0', 'm1 1', 'm1 1']);
  assert.deepEqual(commits(workspace), []);
  const state = JSON.parse(workspace.read('.loop/state.json'));
  assert.equal(state.stopped.reason, 'remediation_exhausted');
  assert.match(workspace.read('.loop/journal.md'), /STOP: remediation_exhausted \(.*tests/);
  const again = await run(workspace, ['loop', 'run']);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /is stopped \(remediation_exhausted\).*loop stop.* --clear/s);
});

test('a marker that an agent leaves is mended before the checkpoint', async (t) => {
  const workspace = makeWorkspace(t);
  const work = 'if [ $round = 0 ]; then echo "ok # TODO later" >"$m.txt"; else echo ok >"$m.txt"; fi; echo "did $m"';
  makeAgent(workspace, { work });
  await makeLoop(workspace);
  const { code } = await waitLoop(workspace, await launchLoop(workspace, ['--once']));
  assert.equal(code, 0);
  assert.deepEqual(calls(workspace), ['m1 0', 'm1 1']);
  assert.deepEqual(commits(workspace), three.slice(0, 1));
  assert.equal(workspace.read('m1.txt'), 'ok\n');
});

test('--once makes exactly one iteration, and a later run goes on', async (t) => {
  const workspace = makeWorkspace(t);
  makeAgent(workspace);
  await makeLoop(workspace);
  assert.equal((await waitLoop(workspace, await launchLoop(workspace, ['--once']))).code, 0);
  assert.deepEqual(commits(workspace), three.slice(0, 1));
  const { code, record } = await waitLoop(workspace, await launchLoop(workspace, ['--max-iterations', '1']));
  assert.deepEqual([code, (record.error as { code: string }).code], [3, 'iterations_exhausted']);
  assert.deepEqual(commits(workspace), three.slice(0, 2));
});

test('no GO without an answer to each question', async (t) => {
  const workspace = makeWorkspace(t);
  makeAgent(workspace, { judge: 'I would rather not say.' });
  await makeLoop(workspace);
  const { code, record } = await waitLoop(workspace, await launchLoop(workspace));
  const error = record.error as { code: string; message: string };
  assert.deepEqual([code, error.code], [3, 'nogo']);
  assert.match(error.message, /E1.*E5/);
  assert.deepEqual(commits(workspace), three.slice(0, 1));
});

test('cancel ends the agent with it, and another run takes the milestone over', async (t) => {
  const workspace = makeWorkspace(t);
  makeAgent(workspace, {
    work: 'echo $$ >"$HOME/agent.pid"; [ -e "$HOME/go" ] || sleep 600; echo ok >"$m.txt"; echo did',
  });
  await makeLoop(workspace);
  const id = await launchLoop(workspace);
  const pid = join(workspace.home, 'agent.pid');
  await eventually('the agent to run', () => Number(readFileSync(pid, 'utf8')) > 0, { limitMs: 60_000 });
  const second = await run(workspace, ['loop', 'run']);
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(`cannot run this loop twice: job ${id}`));
  const canceled = await run(workspace, ['cancel', id], { limitMs: 60_000 });
  assert.equal(canceled.code, 0, canceled.stderr);
  assert.equal((await waitLoop(workspace, id)).code, 4);
  const staff = findJob(workspace, (findJob(workspace, id).state().loop as { job: string }).job);
  assert.equal(staff.state().state, 'canceled');
  writeFileSync(join(workspace.home, 'go'), '');
  assert.equal((await waitLoop(workspace, await launchLoop(workspace))).code, 0);
  assert.deepEqual(commits(workspace), three);
});

test('what would stop it at night is refused now', async (t) => {
  const workspace = makeWorkspace(t);
  makeAgent(workspace);
  const refused = async (pattern: RegExp, words: string[] = []) => {
    const result = await run(workspace, ['loop', 'run', ...words]);
    assert.equal(result.code, 1, result.stdout);
    assert.match(result.stderr, pattern);
  };
  await refused(/there is no .*\.loop/);
  await makeLoop(workspace);
  await refused(/cannot use backend "nobody"/, ['--backend', 'nobody']);
  await refused(/cannot use backend "nobody"/, ['--judge-backend', 'nobody']);
  workspace.write('left.txt', 'mine');
  await refused(/changes that are not committed \(left\.txt\)/);
  workspace.git('add', '-A');
  workspace.git('commit', '-qm', 'mine');
  const text = workspace.read('.loop/state.json');
  workspace.write('.loop/state.json', text.replace('three files', 'four files'));
  await refused(/edited by hand.*loop trust/s);
  workspace.write('.loop/state.json', text);
  await run(workspace, ['loop', 'stop', '--reason', 'enough']);
  await refused(/is stopped \(stopped\)/);
});
