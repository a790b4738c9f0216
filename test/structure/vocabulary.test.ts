/**
 * One word per thing: the struck-out words of the glossary do not come back in names, nor `cancelled` in text. Shown to
 * refuse each of them and to leave other people's words alone.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { makeSource, readSources } from './rules/source.ts';
import { judgeVocabulary } from './rules/vocabulary.ts';

test('no source file uses a struck-out word', () => {
  assert.deepEqual(judgeVocabulary(readSources()), []);
});

const refused: [path: string, text: string, word: string][] = [
  ['platform/daemon.ts', '', 'worker'],
  ['core/string-utils.ts', '', 'the subject'],
  ['core/misc/a.ts', '', 'the subject'],
  ['core/a.ts', 'const agentProvider = 1;', 'backend'],
  ['core/a.ts', 'function spawnDaemon() {}', 'worker'],
  ['core/a.ts', 'class JobManager {}', 'supervisor'],
  ['core/a.ts', 'interface Spec { test_helper: string }', 'the subject'],
  ['core/a.ts', 'export const handleExit = () => {};', 'what it does'],
  ['core/a.ts', 'const isCancelled = true;', 'canceled'],
  ['core/a.ts', "const state = 'cancelled';", 'canceled'],
  ['core/a.ts', 'const text = `job ${id} was Cancelled`;', 'canceled'],
];
for (const [path, text, word] of refused) {
  test(`the vocabulary rule refuses in ${path}: ${text || 'its name'}`, () => {
    const faults = judgeVocabulary([makeSource(path, text)]);
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0]!, new RegExp(`say ${word}`));
  });
}

test('the vocabulary rule leaves comments, file handles, imported names and backend data alone', () => {
  const planted = [
    makeSource('core/a.ts', "// the daemon was cancelled\nimport { helper } from 'x';\nconst handle = helper(1);"),
    makeSource('backends/codex.ts', "const ended = line === 'turn cancelled';"),
    makeSource('core/b.ts', "const cancellation = 'the cancellation report'; const utility = 1; const handles = [];"),
  ];
  assert.deepEqual(judgeVocabulary(planted), []);
});
