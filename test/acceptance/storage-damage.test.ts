/**
 * Damaged records (contract 6): the one job with a damaged file is state_damaged (3) or as it was, its files are kept byte for
 * byte, `doctor` explains it, every other job is as readable as before, and an ended job's outcome and deliverable never change.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, type RunResult, run, start } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Identity, isAlive, killByIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const garbage: [what: string, content: (text: string) => string][] = [
  ['truncated', (text) => text.slice(0, text.length / 2)],
  ['empty', () => ''],
  ['no JSON', () => '\0\x01binary\xff\n'],
  ['an array', () => '[1,2]'],
  ['an empty object', () => '{}'],
  ['of unknown words', (text) => text.replace(/"(state|kind)":"[a-z]+"/, '"$1":"unheard"').replace('"worker"', '"w"')],
];

for (const [what, content] of garbage) {
  test(`a state.json that is ${what} makes this one job state_damaged, and is kept`, async (t) => {
    const workspace = makeWorkspace(t);
    const [before, id, after] = [
      await finished(workspace, 'a'),
      await finished(workspace, 'b'),
      await finished(workspace, 'c'),
    ];
    const file = jobFile(workspace, id, 'state.json');
    const damaged = content(readFileSync(file, 'utf8'));
    writeFileSync(file, damaged);
    await assertDamaged(workspace, id, /state.json/);
    assert.equal(readFileSync(file, 'utf8'), damaged);
    assert.equal(readFileSync(jobFile(workspace, id, 'output.log'), 'utf8'), 'b\n');
    assert.equal(readFileSync(jobFile(workspace, id, 'result.md'), 'utf8'), 'b\n');

    for (const [other, text] of [
      [before, 'a\n'],
      [after, 'c\n'],
    ] as const) {
      for (const verb of ['wait', 'result']) assert.equal((await run(workspace, [verb, other])).stdout, text);
    }
    const { jobs } = parseReply<{ jobs: { id: string; state: string }[] }>(await run(workspace, ['status', '--json']));
    assert.deepEqual(
      jobs.map((job) => [job.id, job.state]),
      [
        [after, 'done'],
        [id, 'failed'],
        [before, 'done'],
      ],
    );
    const all = await run(workspace, ['wait', before, id, after, '--all']);
    assert.equal(all.code, 3);
    const clean = await run(workspace, ['clean', '--older-than', '0s', '--yes']);
    assert.equal(clean.code, 0);
    assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), [id]);
    assert.equal(readFileSync(file, 'utf8'), damaged);
    assert.equal((await run(workspace, ['run', '--wait', '--', 'echo', 'next'])).stdout, 'next\n');
  });

  test(`a spec.json that is ${what} keeps an ended job readable and lets nothing start from it`, async (t) => {
    const workspace = makeWorkspace(t);
    const id = await finished(workspace, 'b');
    const file = jobFile(workspace, id, 'spec.json');
    const damaged = content(readFileSync(file, 'utf8'));
    writeFileSync(file, damaged);
    const codes = [];
    for (const verb of ['wait', 'observe', 'status']) codes.push((await run(workspace, [verb, id])).code);
    assert.deepEqual(codes, [0, 0, 0]);
    const again = await run(workspace, ['restart', id]);
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /^job-companion: cannot [^\n]*spec.json/);
    assert.equal(readFileSync(file, 'utf8'), damaged);
  });
}

test('--json of wait and result says state_damaged as observe does', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace, 'b');
  writeFileSync(jobFile(workspace, id, 'state.json'), '{"torn');
  for (const verb of ['observe', 'wait', 'result']) {
    await assertDamagedJson(workspace, [verb, id, '--json'], /state.json/);
  }
});

test('result of an ended job without a readable spec.json is what wait gives', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace, 'b');
  writeFileSync(jobFile(workspace, id, 'spec.json'), '{"torn');
  for (const verb of ['wait', 'result']) {
    const { code, stdout } = await run(workspace, [verb, id]);
    assert.deepEqual([verb, code, stdout], [verb, 0, 'b\n']);
  }
});

test('a worker.json, launch.json, exit.json, events.ndjson or lease.json of garbage costs an ended job nothing', async (t) => {
  const workspace = makeWorkspace(t);
  for (const name of ['worker.json', 'launch.json', 'exit.json', 'events.ndjson', 'lease.json', 'cancel.json']) {
    const id = await finished(workspace, name);
    const file = jobFile(workspace, id, name);
    for (const [, content] of garbage) {
      const damaged = content('{"worker":{"pid":1,"start_token":"1"},"state":"running","exit_code":1}\n');
      writeFileSync(file, damaged);
      const seen = [await run(workspace, ['wait', id]), await run(workspace, ['result', id])];
      assert.deepEqual(
        seen.map(({ code, stdout }) => [code, stdout]),
        [
          [0, `${name}\n`],
          [0, `${name}\n`],
        ],
        name,
      );
      const observed = parseReply(await run(workspace, ['observe', id, '--after-seq', '0']));
      assert.equal(observed.state, 'done', name);
      assert.equal(readFileSync(file, 'utf8'), damaged, name);
    }
  }
  assert.equal((await run(workspace, ['doctor'])).code, 0);
});

test('torn and foreign lines among the events cost only themselves', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace, 'x');
  const file = jobFile(workspace, id, 'events.ndjson');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  writeFileSync(
    file,
    [lines[0], lines[1]?.slice(0, 9), 'null', '17', '{"seq":"2"}', '\xff\xfe', ...lines.slice(2)].join('\n'),
  );
  const { events } = parseReply<{ events: { seq: number }[] }>(
    await run(workspace, ['observe', id, '--after-seq', '0']),
  );
  const kept = [lines[0], ...lines.slice(2)].map((line) => JSON.parse(line ?? '').seq);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    kept,
  );
});

for (const name of ['state.json', 'spec.json']) {
  test(`a ${name} that is damaged while the worker lives does not disturb the job`, async (t) => {
    const workspace = makeWorkspace(t);
    const { id, release } = await launchHeld(workspace);
    writeFileSync(jobFile(workspace, id, name), '{"torn');
    for (const args of [
      ['status', id],
      ['observe', id],
      ['wait', id, '--timeout', '0s'],
    ]) {
      assert.equal((await run(workspace, args)).code, 2, args[0]);
    }
    writeFileSync(release, '');
    const { code, stdout } = await run(workspace, ['wait', id]);
    assert.deepEqual([code, stdout], [0, 'released\n']);
  });
}

test('a lost job with a damaged record is state_damaged: nothing is written over, started or signaled', async (t) => {
  const workspace = makeWorkspace(t);
  for (const name of ['state.json', 'spec.json']) {
    const { id, release, worker, child } = await launchHeld(workspace);
    killByIdentity(worker);
    await eventually('the worker to be gone', () => !isAlive(worker));
    const file = jobFile(workspace, id, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.slice(0, -9));
    await assertDamaged(workspace, id, new RegExp(name));
    assert.ok(isAlive(child), `${name}: the child was signaled`);
    assert.equal(readFileSync(file, 'utf8'), text.slice(0, -9), name);
    // Mended, it goes on as if nothing had been.
    writeFileSync(file, text);
    writeFileSync(release, '');
    const { code, stdout } = await run(workspace, ['wait', id]);
    assert.deepEqual([name, code, stdout], [name, 0, 'released\n']);
  }
});

test('a worker.json of garbage does not lose the worker of a running job', async (t) => {
  const workspace = makeWorkspace(t);
  for (const [what, content] of garbage) {
    const { id, release, worker } = await launchHeld(workspace);
    const file = jobFile(workspace, id, 'worker.json');
    writeFileSync(file, content(readFileSync(file, 'utf8')));
    assert.equal((await run(workspace, ['wait', id, '--timeout', '100ms'])).code, 2, what);
    assert.ok(isAlive(worker), what);
    writeFileSync(release, '');
    const { code, stdout } = await run(workspace, ['wait', id]);
    assert.deepEqual([what, code, stdout], [what, 0, 'released\n']);
    assert.equal(readdirSync(jobFile(workspace, id, '')).filter((one) => one === 'exit.json').length, 1);
    rmSync(release);
  }
});

test('an ended staff job whose state.json is missing keeps its answer', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const args = ['staffer', '--id-only', '--backend', 'cat', '--prompt', 'the precious answer'];
  const id = (await run(workspace, args)).stdout.trim();
  assert.equal((await run(workspace, ['wait', id])).stdout, 'the precious answer');
  rmSync(jobFile(workspace, id, 'state.json'));
  const seen: RunResult[] = [];
  for (const verb of ['status', 'wait', 'result']) seen.push(await run(workspace, [verb, id]));
  assert.equal(readFileSync(jobFile(workspace, id, 'result.md'), 'utf8'), 'the precious answer');
  const codes = seen.map(({ code }) => code);
  assert.ok(codes.every((code) => code === codes[0]) && (codes[0] === 0 || codes[0] === 3), `${codes}`);
});

test('a pending wait tells of a record that is damaged while it waits', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, release, worker } = await launchHeld(workspace);
  const waiting = start(workspace, ['wait', id]);
  await eventually('the wait to register', () => readdirSync(jobFile(workspace, id, 'waiters')).length > 0);
  const spec = jobFile(workspace, id, 'spec.json');
  const text = readFileSync(spec, 'utf8');
  writeFileSync(spec, '');
  killByIdentity(worker);
  const { code, stdout } = await waiting.promise;
  assert.equal(code, 3);
  assert.match(stdout, /state_damaged/);
  writeFileSync(spec, text);
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', id])).code, 0);
});

test('a pending wait whose own look at the disk fails ends with 1; it does not hang', async (t) => {
  const workspace = makeWorkspace(t);
  const { id, release } = await launchHeld(workspace);
  const broken = workspace.write('broken.cjs', brokenDisk);
  const waited = await run(workspace, ['wait', id], { nodeOptions: ['--require', broken], limitMs: 15_000 });
  assert.deepEqual([waited.code, waited.stdout], [1, '']);
  assert.match(waited.stderr, /EIO/);
  writeFileSync(release, '');
  assert.equal((await run(workspace, ['wait', id])).code, 0);
});

/** From the moment that the waiter watches the worker's FIFO, its disk gives nothing but errors. */
const brokenDisk = `
const fs = require('node:fs');
const { openSync, lstatSync } = fs;
let isBroken = false;
fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  isBroken ||= String(path).endsWith('lease.fifo');
  return fd;
};
fs.lstatSync = (path, ...rest) => {
  if (isBroken) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  return lstatSync(path, ...rest);
};
`;

test('a cache of compiled code that was damaged on disk costs nothing but time', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace, 'fine');
  const readers = [
    ['status', id],
    ['result', id],
  ];
  // The clock, and how long ago it ended, is another text each time.
  const said = (stdout: string | undefined) => stdout?.replace(/\d+[smh] ago/, 'ago').replace(/^now: .*$/m, 'now');
  const good = [];
  for (const args of readers) good.push(await run(workspace, args));
  const folder = join(workspace.home, '.cache/job-companion');
  const files = readdirSync(folder).filter((name) => /^(status|result)-/.test(name));
  // One for what most starts need; some have a second for the rest.
  for (const [verb] of readers)
    assert.ok(
      files.some((name) => name.startsWith(`${verb}-`)),
      String(files),
    );
  const whole = new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
  const damages: [what: string, damage: (bytes: Buffer) => Buffer][] = [
    ['truncated', (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    ['text', (bytes) => Buffer.alloc(bytes.length, 'text')],
    ...[0.1, 0.3, 0.5, 0.7, 0.9].map((part): [string, (bytes: Buffer) => Buffer] => [
      `a lost page at ${part}`,
      (bytes) => Buffer.from(bytes).fill(0, Math.floor(bytes.length * part), Math.floor(bytes.length * part) + 4096),
    ]),
    ...[0.2, 0.4, 0.6, 0.8].map((part): [string, (bytes: Buffer) => Buffer] => [
      `torn bits at ${part}`,
      (bytes) => Buffer.from(bytes.map((byte, at) => (Math.abs(at - bytes.length * part) < 20 ? byte ^ 0x55 : byte))),
    ]),
  ];
  const faults: string[] = [];
  for (const [what, damage] of damages) {
    for (const [name, bytes] of whole) writeFileSync(join(folder, name), damage(bytes));
    for (const [at, args] of readers.entries()) {
      const { code, signal, stdout, stderr } = await run(workspace, args);
      const isSame = code === 0 && said(stdout) === said(good[at]?.stdout);
      if (!isSame) faults.push(`${args[0]}, ${what}: ${code} ${signal} ${stderr.slice(0, 100)}`);
    }
  }
  assert.deepEqual(faults, []);
});

test('a record of another release with more fields, and an older one with fewer, load', async (t) => {
  const workspace = makeWorkspace(t);
  const id = await finished(workspace, 'old');
  const file = jobFile(workspace, id, 'state.json');
  const { warnings, usage, reconciled, output, conversation, ...older } = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok([warnings, usage, reconciled, output, conversation].every((value) => value !== undefined));
  for (const record of [older, { ...older, warnings, output, future: { deep: [1] } }]) {
    writeFileSync(file, JSON.stringify(record));
    for (const args of [
      ['wait', id],
      ['result', id],
    ]) {
      const { code, stdout, stderr } = await run(workspace, args);
      assert.deepEqual([code, stdout], [0, 'old\n'], stderr);
    }
    assert.equal((await run(workspace, ['status', id])).code, 0);
    assert.equal((await run(workspace, ['status'])).code, 0);
    assert.equal(parseReply(await run(workspace, ['observe', id])).state, 'done');
  }
});

/** Each reader says 3 and why; so does `doctor`, with a command that really runs. */
async function assertDamaged(workspace: Workspace, id: string, why: RegExp): Promise<void> {
  for (const args of [
    ['wait', id],
    ['status', id],
    ['result', id],
  ]) {
    const { code, stdout, stderr } = await run(workspace, args);
    assert.equal(code, 3, `${args[0]}: ${stderr}`);
    assert.match(stdout, /state_damaged/, args[0]);
    assert.match(stdout, why, args[0]);
  }
  await assertDamagedJson(workspace, ['observe', id], why);
  const doctor = await run(workspace, ['doctor', id]);
  assert.equal(doctor.code, 3);
  assert.match(doctor.stdout, why);
  assert.match(doctor.stdout, /nothing was deleted/);
}

async function assertDamagedJson(workspace: Workspace, args: string[], why: RegExp): Promise<void> {
  const reply = await run(workspace, args);
  const { state, error } = parseReply<{ state: string; error: { code: string; message: string } | null }>(reply);
  assert.deepEqual([reply.code, state, error?.code], [3, 'failed', 'state_damaged'], args.join(' '));
  assert.match(error?.message ?? '', why);
}

interface Held {
  id: string;
  release: string;
  worker: Identity;
  child: Identity;
}

/** A running job that prints `released` and ends when the file appears. */
async function launchHeld(workspace: Workspace): Promise<Held> {
  const release = workspace.path('release');
  rmSync(release, { force: true });
  workspace.defer(() => writeFileSync(release, ''));
  const wait = ['sh', '-c', 'until [ -e "$0" ]; do sleep 0.05; done; echo released', release];
  const { code, stdout, stderr } = await run(workspace, ['run', '--id-only', '--', ...wait]);
  assert.equal(code, 0, stderr);
  const id = stdout.trim();
  const identities = await eventually('the job to run', () => {
    const { worker, child } = JSON.parse(readFileSync(jobFile(workspace, id, 'worker.json'), 'utf8'));
    const { state } = JSON.parse(readFileSync(jobFile(workspace, id, 'state.json'), 'utf8'));
    return state === 'running' && { worker: identityOf(worker), child: identityOf(child) };
  });
  return { id, release, ...identities };
}

function identityOf(record: { pid: number; start_token: string }): Identity {
  return { pid: record.pid, startTime: record.start_token };
}

/** A collected job that printed this word. */
async function finished(workspace: Workspace, word: string): Promise<string> {
  const { code, stdout, stderr } = await run(workspace, ['run', '--id-only', '--', 'echo', word]);
  assert.equal(code, 0, stderr);
  assert.equal((await run(workspace, ['wait', stdout.trim()])).stdout, `${word}\n`);
  return stdout.trim();
}

function jobFile(workspace: Workspace, id: string, name: string): string {
  return workspace.path('.job-state/jobs', id, name);
}

function withBackend(workspace: Workspace): void {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends: { cat: { argv: ['cat'] } } }));
}
