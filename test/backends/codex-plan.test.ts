// codex.ts: the exact command line of each profile, with and without model and conversation; the prompt is never in it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { codex } from '../../companion/src/backends/codex.ts';
import { makeRequest } from './request.ts';

const thread = '01a22bfe-9211-7f90-84c0-cddae2b57942';

const request = makeRequest();
const head = ['exec', '--json', '--skip-git-repo-check'];
const protectedWorkspace = [
  '-c',
  'sandbox_mode="workspace-write"',
  '-c',
  'default_permissions="job-companion"',
  '-c',
  'permissions.job-companion.extends=":workspace"',
  '-c',
  'permissions.job-companion.filesystem={"/w/.job-state"="read"}',
];

test('plan: the exact arguments of each profile', () => {
  assert.deepEqual(codex.plan(request).args, [...head, ...protectedWorkspace, '-']);
  assert.deepEqual(codex.plan({ ...request, profile: 'restricted' }).args, [...head, '-s', 'read-only', '-']);
  const unrestricted = codex.plan({ ...request, profile: 'unrestricted' }).args;
  assert.deepEqual(unrestricted, [...head, '-s', 'danger-full-access', '-']);
});

test('plan: model and sandbox come before resume, the dash last', () => {
  const plan = codex.plan({ ...request, profile: 'restricted', model: '-odd', resume: thread });
  assert.deepEqual(plan.args, [...head, '-s', 'read-only', '--model=-odd', 'resume', thread, '-']);
  const standard = codex.plan({ ...request, resume: thread });
  assert.deepEqual(standard.args, [...head, ...protectedWorkspace, 'resume', thread, '-']);
});

test('plan: the prompt is stdin as it is and never an argument', () => {
  for (const prompt of [
    '--help',
    '-',
    '--dangerously-bypass-approvals-and-sandbox',
    '/exit',
    'resume',
    'a\'b"c`d$e\\\r\n\t😀',
  ]) {
    const plan = codex.plan({ ...request, prompt });
    assert.equal(plan.promptBy, 'stdin');
    assert.equal(plan.stdin, prompt);
    assert.deepEqual(plan.args, [...head, ...protectedWorkspace, '-']);
  }
});

test('plan: the path of the state folder is quoted; where it would be a pattern, the rule is left out', () => {
  const quoted = codex.plan({ ...request, stateRoot: '/w "x"\\ü=/.job-state' }).args;
  assert.equal(quoted[10], 'permissions.job-companion.filesystem={"/w \\"x\\"\\\\ü=/.job-state"="read"}');
  const pattern = codex.plan({ ...request, stateRoot: '/w[1]/.job-state' }).args;
  assert.deepEqual(pattern, [...head, '-s', 'workspace-write', '-']);
});

test('plan: what a codex around us has set is taken out of the environment, its home and keys are not', () => {
  const remove: readonly string[] = [...codex.hostMarkers, ...codex.plan(request).remove];
  assert.deepEqual(codex.plan(request).environment, {});
  assert.ok(remove.includes('CODEX_THREAD_ID') && remove.includes('CODEX_SANDBOX_NETWORK_DISABLED'));
  for (const kept of ['CODEX_HOME', 'CODEX_API_KEY', 'OPENAI_API_KEY']) assert.ok(!remove.includes(kept), kept);
});

test('plan: folders that it must be able to write are opened, in each profile that writes', () => {
  const writable = ['/repo/.git', '/h "b"'];
  const rule =
    'permissions.job-companion.filesystem={"/w/.job-state"="read","/repo/.git"="write","/h \\"b\\""="write"}';
  assert.equal(codex.plan({ ...request, writable }).args[10], rule);
  assert.ok(
    !codex
      .plan({ ...request, writable, profile: 'restricted' })
      .args.join(' ')
      .includes('/repo'),
  );
  const pattern = codex.plan({ ...request, writable, stateRoot: '/w[1]/.job-state' }).args;
  assert.deepEqual(pattern.slice(3, -1), ['-s', 'workspace-write', '--add-dir', '/repo/.git', '--add-dir', '/h "b"']);
});
