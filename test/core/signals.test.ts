// Exit codes above 128 and the signals that they may stand for.
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import test from 'node:test';
import { signalOfExit } from '../../companion/src/core/signals.ts';

test('128+n is the signal n of this system', () => {
  const names = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGABRT', 'SIGKILL', 'SIGSEGV', 'SIGPIPE', 'SIGTERM'] as const;
  for (const name of names) assert.equal(signalOfExit(128 + constants.signals[name], constants.signals), name);
});

test('the number counts in the table that was given, not in ours', () => {
  assert.equal(signalOfExit(138, { SIGBUS: 10 }), 'SIGBUS');
  assert.equal(signalOfExit(138, { SIGUSR1: 10 }), 'SIGUSR1');
});

test('a signal without a name keeps its number', () => {
  assert.equal(signalOfExit(178, { SIGTERM: 15 }), 'SIG50');
  assert.equal(signalOfExit(192, {}), 'SIG64');
});

test('a code that can be no signal is none', () => {
  for (const code of [-1, 0, 1, 127, 128, 193, 255, 256])
    assert.equal(signalOfExit(code, constants.signals), undefined);
});
