/** `--handback DIR`: what an agent leaves there wakes a wait that asked for it, once, by its name; and never ends anything. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseReply, run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { findJob, type Job, killNow, killSupervision, untilStarted } from '../helpers/jobs.ts';
import { makeStaff, until } from '../helpers/staff.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

interface Woken {
  wake: string;
  next_seq: number;
  event: { name: string; path: string; bytes: number; sha256: string; changed: boolean };
}

function makeDesk(t: TestContext, script = '') {
  const workspace = makeWorkspace(t);
  const staff = makeStaff(workspace);
  const go = join(workspace.base, 'go');
  const dir = join(workspace.base, 'hand');
  const release = () => writeFileSync(go, '');
  workspace.defer(release);
  staff.act(`${script}\n${until(go)}; echo answer`);
  const start = async (args: string[] = [], verb = 'staffer') => {
    const job = await staff.launch(verb, ['--handback', dir, '--prompt', 'x', ...args]);
    await untilStarted(job);
    return job;
  };
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
  /** The names that a wait is woken for, one wake each, until there are so many. */
  const wakes = async (job: Job, count: number, after = 0) => {
    const seen: Woken['event'][] = [];
    let seq = after;
    while (seen.length < count) {
      const words = ['wait', job.id, '--until', 'handback', '--after-seq', String(seq), '--timeout', '60s', '--json'];
      const reply = await run(workspace, words, { limitMs: 90_000 });
      assert.equal(reply.code, 2, `${reply.stdout}${reply.stderr}`);
      const woken = parseReply<Woken>(reply);
      assert.equal(woken.wake, 'handback');
      assert.ok(woken.next_seq > seq);
      seq = woken.next_seq;
      seen.push(woken.event);
    }
    return { seen, seq };
  };
  const told = (job: Job) => job.events('handback').map(({ name }) => name);
  return { workspace, staff, dir, release, start, write, wakes, told };
}

test('S2.79: 20 files, one renamed into place, one not whole: each valid one wakes once, with its name', async (t) => {
  const { workspace, dir, release, start, write, wakes, told } = makeDesk(t);
  const job = await start();
  const names = Array.from({ length: 20 }, (_, n) => `${String(n).padStart(2, '0')}-step.md`);
  for (const name of names.slice(0, 18)) write(name, `content of ${name}`);
  for (const name of ['status.md', 'notes.txt', '1-x.md', '05-answer-step.md', '.07-x.md', '08-x.md.tmp'])
    write(name, 'no');
  write('.18.tmp', 'whole');
  renameSync(join(dir, '.18.tmp'), join(dir, names[18] as string));
  write('19-step.md', '');
  const { seen, seq } = await wakes(job, 19);
  assert.deepEqual(
    seen.map(({ name }) => name),
    names.slice(0, 19),
  );
  assert.deepEqual([seen[3]?.path, seen[3]?.bytes, seen[3]?.sha256.length], [join(dir, names[3] as string), 21, 64]);
  // The same cursor gives the same again; a later one nothing that was told.
  assert.equal((await wakes(job, 1, 0)).seen[0]?.name, names[0]);
  write('19-step.md', 'now it is whole');
  assert.deepEqual(
    (await wakes(job, 1, seq)).seen.map(({ name }) => name),
    ['19-step.md'],
  );
  release();
  const reply = await run(workspace, ['wait', job.id]);
  assert.deepEqual([reply.code, reply.stdout], [0, 'answer\n'], reply.stderr);
  assert.match(reply.stderr, /hand-back: 20 files in \S+, last told 19-step\.md/);
  assert.deepEqual(told(job), names);
  const seqs = job.events().map((event) => event.seq);
  assert.deepEqual(seqs, [...new Set(seqs)]);
});

test('S2.83: a hand-back file ends nothing, also one that says complete; FROZEN is told and wakes nobody', async (t) => {
  const { workspace, release, start, write, wakes, told } = makeDesk(t);
  const job = await start();
  write('01-complete.md', 'FROZEN');
  write('complete.md', 'All of it.\nFROZEN\n');
  await wakes(job, 1);
  await eventually('the marker to be seen', () => job.state().handback?.frozen === true);
  const page = await run(workspace, ['status', job.id]);
  assert.match(page.stdout, /^hand-back: +1 file in \S+, last told 01-complete\.md \(frozen\)$/m);
  const seen = parseReply<Record<string, unknown>>(await run(workspace, ['observe', job.id]));
  assert.equal(seen.state, 'running');
  assert.deepEqual(
    [(seen.handback as { told: number }).told, (seen.handback as { frozen: boolean }).frozen],
    [1, true],
  );
  release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.deepEqual(told(job), ['01-complete.md']);
});

test('a worker that is killed loses no file and tells none twice, nor does one whose end a reader publishes', async (t) => {
  const { workspace, start, write, wakes, told } = makeDesk(t);
  const job = await start();
  write('01-a.md', 'a');
  const { seq } = await wakes(job, 1);
  await killNow('the worker', job.identity('worker'));
  write('02-b.md', 'b');
  assert.deepEqual(
    (await wakes(job, 1, seq)).seen.map(({ name }) => name),
    ['02-b.md'],
  );
  await eventually('a new worker', () => job.launch().generation === 2);
  const child = job.identity('child');
  await killSupervision(job);
  write('03-c.md', 'c');
  const reply = await run(workspace, ['wait', job.id]);
  assert.equal(reply.code, 3, reply.stderr);
  await killNow('the agent', child).catch(() => undefined);
  assert.deepEqual(told(job), ['01-a.md', '02-b.md', '03-c.md']);
  assert.equal(job.state().handback?.told, 3);
  assert.equal(job.events().at(-1)?.type, 'ended');
});

test('what is written in the last moment is told before the end', async (t) => {
  const { release, start, told } = makeDesk(t);
  const job = await start();
  const staff = join(job.folder, '../../../../home/act.sh');
  assert.ok(existsSync(staff));
  release();
  await eventually('the end', () => job.state().ended_at !== null);
  assert.deepEqual(told(job), []);
  const { workspace, staff: other, dir } = makeDesk(t);
  other.act('echo q >"$JOB_HANDBACK/01-q.md"; echo "$JOB_HANDBACK"');
  const reply = await other.staff('staffer', ['--handback', dir, '--prompt', 'x']);
  assert.equal(reply.stdout, `${dir}\n`);
  const [id = ''] = readdirSync(workspace.path('.job-state/jobs'));
  const types = findJob(workspace, id)
    .events()
    .map(({ type }) => type);
  assert.deepEqual(types.slice(-2), ['handback', 'ended']);
});

test('one live job for each folder, also through a link; after its end the folder is free', async (t) => {
  const { workspace, dir, release, start, staff } = makeDesk(t);
  const job = await start();
  symlinkSync(dir, join(workspace.base, 'link'));
  for (const said of [dir, '../hand', '../link']) {
    const refused = await run(workspace, ['staffer', '--profile', 'standard', '--handback', said, '--prompt', 'y']);
    assert.deepEqual([refused.code, refused.stdout], [1, ''], said);
    assert.match(refused.stderr, new RegExp(`cannot take --handback \\S+: job ${job.id} hands its files back in`));
  }
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), [job.id]);
  release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  assert.equal((await staff.staff('staffer', ['--handback', '../link', '--prompt', 'y'])).code, 0);
});

test('a refused launch leaves nothing, the folder that it would have made included', async (t) => {
  const { workspace, dir } = makeDesk(t);
  const words = ['--prompt', 'x', '--handback'];
  for (const [args, why] of [
    [[...words, 'in'], /lies in the work tree/],
    [[...words, ''], /needs the path of a folder/],
    [[...words, `${dir}/a/b`], /only the last part of the path is made/],
  ] as const) {
    const refused = await run(workspace, ['staffer', '--profile', 'standard', ...args]);
    assert.deepEqual([refused.code, refused.stdout], [1, ''], args.join(' '));
    assert.match(refused.stderr, why);
  }
  assert.deepEqual([existsSync(dir), existsSync(workspace.path('in'))], [false, false]);
});

test('what lies there already wakes nobody', async (t) => {
  const { dir, staff } = makeDesk(t);
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(join(dir, '01-old.md'), 'old');
  staff.act('echo new >"$JOB_HANDBACK/02-new.md"; echo done');
  const reply = await staff.staff('staffer', ['--prompt', 'x', '--handback', dir]);
  assert.match(reply.stderr, /hand-back: 1 file in \S+, last told 02-new\.md/);
});

test('a folder that vanishes, or becomes a link, is a warning and no more', async (t) => {
  const { workspace, dir, release, start } = makeDesk(t);
  const job = await start();
  renameSync(dir, `${dir}-aside`);
  symlinkSync(`${dir}-aside`, dir);
  await eventually('the warning', () => job.state().warnings.some(({ code }) => code === 'handback_unseen'), {
    limitMs: 20_000,
  });
  writeFileSync(join(dir, '01-a.md'), 'a');
  release();
  const reply = await run(workspace, ['wait', job.id]);
  assert.equal(reply.code, 0);
  assert.match(reply.stderr, /warning: the hand-back folder \S+ cannot be looked into: it is (?:gone|a link now)/);
  assert.deepEqual(job.events('handback'), []);
  assert.equal(job.state().warnings.filter(({ code }) => code === 'handback_unseen').length, 1);
});

test('S2.81, S2.76: a question as the last line, and NOT FINISHED as the first, are told by wait and result', async (t) => {
  const { workspace, dir, staff } = makeDesk(t);
  const go = async (text: string) => {
    staff.act(`echo q >"$JOB_HANDBACK/01-q.md"; printf '${text}'`);
    return staff.staff('staffer', ['--handback', dir, '--prompt', 'x']);
  };
  const asked = await go('I need to know.\\n\\nPARENT-QUESTION: 01-q.md\\n');
  assert.deepEqual([asked.code, asked.stdout], [0, 'I need to know.\n\nPARENT-QUESTION: 01-q.md\n']);
  assert.match(
    asked.stderr,
    /warning: the agent asks a question in \S+\/01-q\.md; put the answer into \S+\/01-answer-q\.md/,
  );
  assert.match((await run(workspace, ['result'])).stderr, /warning: the agent asks a question/);
  assert.match(
    (await go('PARENT-QUESTION: 02-gone.md')).stderr,
    /asks a question in \S+\/02-gone\.md \(there is no such file\)/,
  );
  assert.doesNotMatch((await go('PARENT-QUESTION: 01-q.md\\nor not')).stderr, /asks a question/);
  const open = await go('NOT FINISHED: the tests are missing');
  assert.equal(open.code, 0);
  assert.match(
    open.stderr,
    /warning: the agent says that the task is not finished: NOT FINISHED: the tests are missing/,
  );
  assert.match((await run(workspace, ['result'])).stderr, /not finished/);
});

test('S2.20: the brief names the job and the folder; a job that the agent starts has no share in it', async (t) => {
  const { workspace, dir, staff } = makeDesk(t);
  const inner = `${process.execPath} '${join(import.meta.dirname, '../../companion/job-companion.cjs')}' run --wait -- sh -c 'echo "inner $JOB_HANDBACK."'`;
  staff.act(inner);
  const reply = await staff.staff('staffer', ['--handback', dir, '--prompt', 'x']);
  assert.equal(reply.stdout, 'inner .\n', reply.stderr);
  const id = readdirSync(workspace.path('.job-state/jobs')).find((one) => one.startsWith('staffer-')) ?? '';
  assert.match(staff.brief(id), new RegExp(`You are job ${id}\\. The folder ${dir} `));
});

test('a restart hands back in the same folder unless told otherwise, with what is there as its baseline', async (t) => {
  const { workspace, dir, staff } = makeDesk(t);
  staff.act('echo a >>"$JOB_HANDBACK/01-a.md"; echo "$JOB_HANDBACK"');
  await staff.staff('staffer', ['--handback', dir, '--prompt', 'x']);
  const [id = ''] = readdirSync(workspace.path('.job-state/jobs'));
  staff.act('echo b >"$JOB_HANDBACK/02-b.md"; echo "$JOB_HANDBACK"');
  const again = await run(workspace, ['restart', id, '--wait']);
  assert.equal(again.stdout, `${dir}\n`, again.stderr);
  assert.match(again.stderr, /hand-back: 1 file in \S+, last told 02-b\.md/);
  staff.act('echo "none: $JOB_HANDBACK"');
  assert.equal((await run(workspace, ['restart', id, '--handback', 'none', '--wait'])).stdout, 'none: \n');
  const refused = await run(workspace, ['run', '--wait', '--', 'true']);
  assert.equal(refused.code, 0);
  const wrong = await run(workspace, ['restart', readRun(workspace), '--handback', dir]);
  assert.deepEqual([wrong.code, /cannot take --handback for a run job/.test(wrong.stderr)], [1, true]);
});

function readRun({ path }: { path(...parts: string[]): string }): string {
  return readdirSync(path('.job-state/jobs')).find((one) => one.startsWith('run-')) ?? '';
}

test('a forged event wakes, and names no path that is not in the folder', async (t) => {
  const { workspace, dir, start } = makeDesk(t);
  const job = await start();
  const events = readFileSync(job.path('events.ndjson'), 'utf8');
  const { seq } = job.events().at(-1) as { seq: number };
  const forged = {
    seq: seq + 1,
    at: new Date().toISOString(),
    job: job.id,
    owner: null,
    type: 'handback',
    name: '01-x.md',
  };
  const line = JSON.stringify({ ...forged, path: '/etc/passwd', answer: '/etc/cron.d/x', wake: ['handback'] });
  writeFileSync(job.path('events.ndjson'), `${events}${line}\n`);
  const reply = await run(workspace, [
    'wait',
    job.id,
    '--until',
    'handback',
    '--after-seq',
    String(seq),
    '--timeout',
    '60s',
  ]);
  assert.equal(reply.code, 2);
  assert.doesNotMatch(reply.stderr, /etc/);
  assert.match(reply.stderr, new RegExp(`an answer goes into: ${dir}/01-answer-x\\.md`));
});

test('the same question of the next agent wakes, though its words lay there before', async (t) => {
  const { workspace, dir, staff, release, start, wakes, told } = makeDesk(t);
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(join(dir, '01-q.md'), 'which?');
  const job = await start();
  const place = () => {
    writeFileSync(join(dir, '.q'), 'which?');
    renameSync(join(dir, '.q'), join(dir, '01-q.md'));
  };
  place();
  const { seq } = await wakes(job, 1);
  place();
  assert.deepEqual(
    (await wakes(job, 1, seq)).seen.map(({ name, changed }) => [name, changed]),
    [['01-q.md', true]],
  );
  release();
  const reply = await run(workspace, ['wait', job.id]);
  assert.match(reply.stderr, /hand-back: 1 file in \S+, last told 01-q\.md/);
  assert.equal(job.state().handback?.told, 1);
  staff.act('printf "which?" >"$JOB_HANDBACK/.q"; mv "$JOB_HANDBACK/.q" "$JOB_HANDBACK/01-q.md"; echo done');
  const again = await run(workspace, ['restart', job.id, '--wait']);
  assert.match(again.stderr, /hand-back: 1 file in \S+, last told 01-q\.md/);
  assert.deepEqual(told(job), ['01-q.md', '01-q.md']);
});

test('a name too many is an event that wakes, also a wait for hand-backs', async (t) => {
  const { workspace, release, start, write } = makeDesk(t);
  const job = await start();
  for (let n = 0; n <= 100; n += 1) write(`50-${String(n).padStart(3, '0')}.md`, 'x');
  await eventually('the event', () => job.events('handback_many').length === 1, { limitMs: 20_000 });
  const seq = String(job.events('handback').at(-1)?.seq);
  for (const cause of ['attention', 'handback']) {
    const woken = await run(workspace, ['wait', job.id, '--until', cause, '--after-seq', seq, '--timeout', '60s']);
    assert.equal(woken.code, 2);
    assert.match(woken.stderr, /^reason: more than 100 files were handed back/m);
  }
  release();
  const reply = await run(workspace, ['wait', job.id]);
  assert.match(reply.stderr, /^warning: more than 100 files were handed back/m);
  assert.equal(job.events('handback_many').length, 1);
});

test('the record of the end counts what was told last, and a folder that came back is no warning any more', async (t) => {
  const { workspace, dir, staff, release, start, write } = makeDesk(t);
  const job = await start();
  renameSync(dir, `${dir}-aside`);
  await eventually('the warning', () => job.state().warnings.some(({ code }) => code === 'handback_unseen'), {
    limitMs: 20_000,
  });
  renameSync(`${dir}-aside`, dir);
  write('01-a.md', 'a');
  release();
  assert.equal((await run(workspace, ['wait', job.id])).code, 0);
  const codes = (warnings: { code: string }[]) => warnings.map(({ code }) => code);
  const record = await staff.record(job.id);
  assert.equal(codes(record.warnings as { code: string }[]).includes('handback_unseen'), false);
  const last = job.events().at(-1);
  assert.deepEqual([last?.type, job.state().seq, record.seq], ['ended', last?.seq, last?.seq]);
});

test('to wait for hand-backs of a job without a folder is answered with a note', async (t) => {
  const workspace = makeWorkspace(t);
  const launched = await run(workspace, ['run', '--id-only', '--', 'true']);
  const id = launched.stdout.trim();
  const reply = await run(workspace, ['wait', id, '--until', 'handback']);
  assert.equal(reply.code, 0);
  assert.match(
    reply.stderr,
    new RegExp(`^${id} has no hand-back folder \\(--handback\\): nothing can be handed back, only the end wakes$`, 'm'),
  );
  assert.doesNotMatch((await run(workspace, ['wait', id, '--until', 'attention'])).stderr, /hand-back/);
});
