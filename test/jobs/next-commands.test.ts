// Next commands: a shell reads back exactly the words that bring the caller on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import test from 'node:test';
import { nextCommand, nextCommands } from '../../companion/src/jobs/next-commands.ts';
import { jobId } from '../store/job-record.ts';

const self = realpathSync(process.argv[1]!);
const option = ['--state-dir', "/tmp/it's a $(place)"];

/** The words as `sh` sees them, without the program and its file. */
function wordsOf(command: string): string[] {
  const { stdout } = spawnSync('/bin/sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  const [node, file, ...words] = stdout.split('\0').slice(0, -1);
  assert.equal(file, self);
  assert.ok(node === 'node' || node === process.execPath, node);
  return words;
}

const verbs: [name: keyof typeof nextCommands, words: string[]][] = [
  ['wait', ['wait', jobId, '--timeout', '10m']],
  ['observe', ['observe', jobId]],
  ['result', ['result', jobId]],
  ['cancel', ['cancel', jobId]],
  ['restart', ['restart', jobId]],
  ['doctor', ['doctor', jobId]],
  ['continue', ['continue', '--job', jobId, '--prompt', '<what to do next>']],
];
for (const [name, words] of verbs) {
  test(`the command that goes on with ${name} has these words and the state folder`, () => {
    const make = nextCommands[name] as (id: string, option: readonly string[]) => string;
    assert.deepEqual(wordsOf(make(jobId, [])), words);
    assert.deepEqual(wordsOf(make(jobId, option)), [...words, ...option]);
  });
}

test('a wait for a job that hands files back is also for those, from the cursor on that is known', () => {
  const spec = { handback: { dir: '/h', baseline: {} } };
  const wait = (...args: [typeof spec | null, number?]) =>
    wordsOf(nextCommands.waitOn(jobId, args[0], option, args[1]));
  const end = ['--timeout', '10m', ...option];
  assert.deepEqual(wait(spec), ['wait', jobId, '--until', 'handback', ...end]);
  assert.deepEqual(wait(spec, 0), ['wait', jobId, '--until', 'handback', '--after-seq', '0', ...end]);
  assert.deepEqual(wait(null, 7), ['wait', jobId, ...end]);
});

test('status needs no job', () => {
  assert.deepEqual(wordsOf(nextCommands.status(option)), ['status', ...option]);
});

test('any other command is quoted too', () => {
  assert.deepEqual(wordsOf(nextCommand([], 'clean', '--older-than', '1d; rm -rf /')), [
    'clean',
    '--older-than',
    '1d; rm -rf /',
  ]);
});
