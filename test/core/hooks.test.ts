/** What a host tells a hook, and what a hook may answer: never a word that holds the host up. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { hookEvents, hookReply, hookTrouble, readHookInput } from '../../companion/src/core/hooks.ts';

test('the folder and the re-entry flag are read from what the host says', () => {
  const told = { session_id: 's', cwd: '/work/tree', hook_event_name: 'Stop', stop_hook_active: true };
  assert.deepEqual(readHookInput(JSON.stringify(told)), { cwd: '/work/tree', isAgain: true });
  assert.deepEqual(readHookInput(JSON.stringify({ ...told, stop_hook_active: false })).isAgain, false);
});

const odd = ['', '{', 'null', '7', '[]', '"x"', '{"cwd":7,"stop_hook_active":"true"}', '{"cwd":"relative"}'];
const places = ['{"cwd":"/a\\u0000b"}', JSON.stringify({ cwd: `/${'x'.repeat(5000)}` })];
for (const text of [...odd, ...places]) {
  test(`input of another form is as none: ${text.slice(0, 40)}`, () => {
    assert.deepEqual(readHookInput(text), { cwd: null, isAgain: false });
  });
}

test('no answer holds a host up, and with a prompt the words are beside it', () => {
  for (const answer of [...hookEvents.map((event) => hookReply(event, 'words')), hookTrouble('words')]) {
    assert.doesNotMatch(JSON.stringify(answer), /decision|continue|stopReason|block/);
  }
  assert.deepEqual(hookReply('Stop', 'words'), { systemMessage: 'words' });
  assert.deepEqual(hookReply('UserPromptSubmit', 'words'), {
    hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'words' },
  });
});
