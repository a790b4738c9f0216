// What each reason makes of a job, for a command and for staff; survivors come before everything; words that are no reason.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExitRecord, JobError } from '../../companion/src/core/job.ts';
import { type EndFacts, type EndReason, judgeEnd, parseReason } from '../../companion/src/core/outcome.ts';

const clean: ExitRecord = { exit_code: 0, signaled: false, spawn_failed: false };
const staffFailure: JobError = { code: 'quota', message: 'no quota left', resets: '18:00' };
const ofRun: Omit<EndFacts, 'reason'> = {
  exit: clean,
  signal: null,
  successExit: 0,
  kind: 'run',
  survivors: [],
  deadlineText: '24h',
};
const ofStaff: Omit<EndFacts, 'reason'> = { ...ofRun, kind: 'staff', staffError: null };

/** `outcome code`, or the outcome alone. */
function verdict(facts: EndFacts): string {
  const { outcome, error } = judgeEnd(facts);
  return error ? `${outcome} ${error.code}` : outcome;
}

// What a clean exit and a complete answer come to under each reason.
const table: Record<EndReason, [run: string, staff: string, failedStaff: string]> = {
  exited: ['done', 'done', 'failed quota'],
  lingered: ['done', 'done', 'failed quota'],
  canceled: ['canceled', 'canceled', 'canceled'],
  hard_timeout: ['timed_out hard_timeout', 'done', 'timed_out hard_timeout'],
  first_output_timeout: ['failed first_output_timeout', 'failed first_output_timeout', 'failed first_output_timeout'],
  stalled: ['failed stalled', 'failed stalled', 'failed stalled'],
  sign_in: ['failed auth', 'failed auth', 'failed auth'],
  state_vanished: ['crashed worker_lost', 'crashed worker_lost', 'crashed worker_lost'],
  spawn_failed: ['failed spawn_failed', 'failed spawn_failed', 'failed spawn_failed'],
  never_started: ['failed never_started', 'failed never_started', 'failed never_started'],
  worker_lost: ['crashed worker_lost', 'crashed worker_lost', 'crashed worker_lost'],
  met: ['done', 'done', 'done'],
  watch_failed: ['failed watch_failed', 'failed watch_failed', 'failed watch_failed'],
  watch_error: ['failed watch_error', 'failed watch_error', 'failed watch_error'],
  due: ['done', 'done', 'done'],
  judged: ['done', 'done', 'done'],
  host_restarted: ['crashed host_restarted', 'crashed host_restarted', 'crashed host_restarted'],
};
const reasons = Object.keys(table) as EndReason[];

for (const reason of reasons) {
  const [run, staff, failedStaff] = table[reason];
  test(`${reason} makes a command with exit 0 ${run}, an answer ${staff} and a failed agent ${failedStaff}`, () => {
    assert.equal(verdict({ ...ofRun, reason }), run);
    assert.equal(verdict({ ...ofStaff, reason }), staff);
    assert.equal(verdict({ ...ofStaff, reason, staffError: staffFailure }), failedStaff);
  });

  test(`survivors make ${reason} failed, and are named`, () => {
    for (const facts of [ofRun, ofStaff, { ...ofStaff, staffError: staffFailure }]) {
      assert.deepEqual(judgeEnd({ ...facts, reason, survivors: [41, 42] }), {
        outcome: 'failed',
        error: { code: 'survivors', message: 'these processes outlived SIGKILL: 41, 42' },
      });
    }
  });

  const isOfTree = !['met', 'due', 'watch_failed', 'watch_error', 'judged'].includes(reason);
  test(`the word ${reason} is ${isOfTree ? 'read as a' : 'no'} reason to end a tree`, () => {
    assert.equal(parseReason(reason), isOfTree ? reason : undefined);
  });
}

test('a word that is no reason is none', () => {
  for (const text of [undefined, '', 'done', 'EXITED', 'exited ', 'exited\n', 'constructor', '__proto__', '0']) {
    assert.equal(parseReason(text), undefined, JSON.stringify(text));
  }
});

test('an exit code other than the wanted one is exit_nonzero, with the code', () => {
  const exit = { ...clean, exit_code: 7 };
  assert.deepEqual(judgeEnd({ ...ofRun, reason: 'exited', exit }), {
    outcome: 'failed',
    error: { code: 'exit_nonzero', message: 'the command exited with code 7' },
  });
  assert.equal(verdict({ ...ofRun, reason: 'exited', exit, successExit: 7 }), 'done');
  assert.equal(verdict({ ...ofRun, reason: 'exited', successExit: 7 }), 'failed exit_nonzero');
});

test('a signal is the cause only when the shell saw one', () => {
  const exit = { ...clean, exit_code: 143 };
  assert.equal(verdict({ ...ofRun, reason: 'exited', exit, signal: 'SIGTERM' }), 'failed exit_nonzero');
  const signaled = { ...exit, signaled: true };
  assert.deepEqual(judgeEnd({ ...ofRun, reason: 'exited', exit: signaled, signal: 'SIGTERM' }), {
    outcome: 'failed',
    error: { code: 'signal', message: 'the command was ended by SIGTERM' },
  });
  assert.equal(verdict({ ...ofRun, reason: 'exited', exit: signaled, signal: 'SIGTERM', successExit: 143 }), 'done');
});

test('SIGKILL that is not ours comes with the usual suspect', () => {
  const exit = { exit_code: 137, signaled: true, spawn_failed: false };
  const { error } = judgeEnd({ ...ofRun, reason: 'exited', exit, signal: 'SIGKILL' });
  assert.equal(error?.message, 'the command was ended by SIGKILL (not by us: often the kernel, when memory runs out)');
});

test('a program that cannot be executed is spawn_failed, for a command and for staff', () => {
  const exit = { exit_code: 127, signaled: false, spawn_failed: true };
  for (const facts of [ofRun, { ...ofRun, successExit: 127 }, { ...ofStaff, staffError: staffFailure }]) {
    assert.deepEqual(judgeEnd({ ...facts, reason: 'exited', exit }).error, {
      code: 'spawn_failed',
      message: 'the program could not be executed (exit code 127)',
    });
  }
});

test('a command whose end nobody saw is crashed, never done', () => {
  assert.equal(verdict({ ...ofRun, reason: 'exited', exit: undefined }), 'crashed worker_lost');
});

test('a failed agent keeps its own words, and the time when the cause ends', () => {
  assert.deepEqual(judgeEnd({ ...ofStaff, reason: 'exited', staffError: staffFailure }).error, staffFailure);
  const error = judgeEnd({
    ...ofStaff,
    reason: 'sign_in',
    staffError: { code: 'auth', message: 'Visit https://x' },
  }).error;
  assert.deepEqual(error, { code: 'auth', message: 'Visit https://x' });
});

test('a limit is named in its message, and a failed start in the words of the system', () => {
  assert.equal(judgeEnd({ ...ofRun, reason: 'hard_timeout' }).error?.message, 'the hard limit of 24h was reached');
  const message = judgeEnd({ ...ofRun, reason: 'spawn_failed', detail: 'spawn E2BIG' }).error?.message;
  assert.equal(message, 'the program could not be started: spawn E2BIG');
});

test('a gate or a loop ends as it judged itself, and survivors count more', () => {
  const ownError = { code: 'nogo' as const, message: 'E2 failed' };
  for (const kind of ['gate', 'loop'] as const) {
    assert.equal(verdict({ ...ofRun, kind, reason: 'judged', ownError }), 'failed nogo');
    assert.equal(verdict({ ...ofRun, kind, reason: 'judged', ownError: null }), 'done');
    assert.equal(verdict({ ...ofRun, kind, reason: 'judged', ownError, survivors: [4] }), 'failed survivors');
  }
});
