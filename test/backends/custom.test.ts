// custom.ts: where the prompt goes for each kind of program, and success by the exit code alone. registry.ts: the list.
import assert from 'node:assert/strict';
import test from 'node:test';
import { findArgumentFault, makeReading } from '../../companion/src/backends/backend.ts';
import { codex } from '../../companion/src/backends/codex.ts';
import { custom } from '../../companion/src/backends/custom.ts';
import { backendIds, backends, findBackend } from '../../companion/src/backends/registry.ts';
import { judgeStaff, type StaffReason } from '../../companion/src/backends/verdict.ts';
import type { CustomBackend } from '../../companion/src/core/job.ts';
import { makeRequest } from './request.ts';

function plan(argv: string[], by: CustomBackend['prompt'], prompt = 'the task') {
  const request = makeRequest({ prompt, promptFile: '/s/prompt.txt', custom: { name: 'mine', argv, prompt: by } });
  const { args, promptBy, stdin } = custom.plan(request);
  return { args, promptBy, stdin };
}

test('stdin: the words stay as they are, placeholders too, and the prompt is stdin', () => {
  const given = plan(['prog', '--ask', '{prompt}', '{prompt_file}'], 'stdin', '--x\n');
  assert.deepEqual(given, { args: ['--ask', '{prompt}', '{prompt_file}'], promptBy: 'stdin', stdin: '--x\n' });
});

test('argument: the prompt is one word, last or where {prompt} stands', () => {
  assert.deepEqual(plan(['prog', '-q'], 'argument').args, ['-q', 'the task']);
  assert.deepEqual(plan(['prog', '--', '{prompt}', '-q'], 'argument').args, ['--', 'the task', '-q']);
  assert.deepEqual(plan(['prog', '--ask={prompt}', '{prompt}'], 'argument').args, ['--ask=the task', 'the task']);
  assert.equal(plan(['prog'], 'argument').stdin, '');
});

test('argument: what the prompt holds is never read again', () => {
  for (const prompt of ['--help', '{prompt} {prompt_file}', "$& $1 $' $$", '', 'a b\n"c"']) {
    assert.deepEqual(plan(['prog', 'x={prompt}'], 'argument', prompt).args, [`x=${prompt}`]);
    assert.deepEqual(plan(['prog'], 'argument', prompt).args, [prompt]);
  }
});

test('file: the path is given, last or where {prompt_file} stands, and never the prompt', () => {
  assert.deepEqual(plan(['prog', '-q'], 'file'), { args: ['-q', '/s/prompt.txt'], promptBy: 'file', stdin: '' });
  assert.deepEqual(plan(['prog', '-f', '@{prompt_file}', 'x'], 'file').args, ['-f', '@/s/prompt.txt', 'x']);
  assert.deepEqual(plan(['prog', '{prompt}'], 'file').args, ['{prompt}', '/s/prompt.txt']);
});

test('a program of the config succeeds by exit 0 and an answer', () => {
  assert.equal(judge(0, null, 'an answer'), null);
  assert.equal(judge(0, null, ' \n'), 'no_final_answer');
  assert.equal(judge(3, null, 'an answer'), 'exit_nonzero');
  assert.equal(judge(null, 'SIGKILL', 'an answer'), 'signal');
});

test('a program of the config that was ended by us has given no complete answer, whatever its exit code', () => {
  assert.equal(judge(0, null, 'half of it', 'hard_timeout'), 'no_final_answer');
});

function judge(exitCode: number | null, signal: string | null, answer: string, reason: StaffReason = 'exited') {
  const reading = makeReading();
  reading.answer = answer;
  const ending = { exitCode, signal, stderrTail: 'error: only a word\n', byItself: reason === 'exited' };
  custom.close(reading, ending);
  return judgeStaff(reading, ending, { resume: null, reason, keepsConversation: false }).error?.code ?? null;
}

test('no profile can be forced on a program of the config, so restricted is refused', () => {
  assert.equal(custom.profiles.restricted, null);
  assert.deepEqual(custom.profiles.standard, { adds: '', sandbox: null });
});

test('an argument that no program can take is told', () => {
  assert.equal(findArgumentFault([]), null);
  assert.equal(findArgumentFault(['--x', 'é'.repeat(65_535)]), null);
  assert.match(findArgumentFault(['a', 'é'.repeat(65_536)]) ?? '', /131072 bytes is too long/);
  assert.match(findArgumentFault(['a\0b']) ?? '', /NUL/);
});

test('the registry knows its backends by id, and nothing else', () => {
  assert.deepEqual(backendIds, [
    'agy',
    'claude',
    'codex',
    'gemini',
    'opencode',
    'pi',
    'qwen',
    'copilot',
    'cursor',
    'custom',
  ]);
  assert.equal(findBackend('codex'), codex);
  assert.equal(findBackend('custom'), custom);
  assert.equal(findBackend('toString'), undefined);
  assert.equal(new Set(backends.map((backend) => backend.id)).size, backends.length);
});
