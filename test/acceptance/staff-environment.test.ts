/**
 * Which variables an agent gets (issue: delegated staff, credentials): all of the caller's but the marks of hosts, git's ties to
 * one repository and the caller's state folder; the record names credentials and never holds a value.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../helpers/companion.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

const codex = `#!/bin/sh
case $1 in --version) echo 'codex-cli 0.171.0'; exit ;; esac
cat >/dev/null; env >"$HOME/env"
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"yes"}}'
echo '{"type":"turn.completed"}'
`;

const hosts = {
  CLAUDECODE: '1',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  CLAUDE_CODE_SESSION_ID: 'host-session',
  CODEX_THREAD_ID: 'host-thread',
  GEMINI_CLI: '1',
  ANTIGRAVITY_AGENT: '1',
};
const repository = { GIT_DIR: '/elsewhere/.git', GIT_WORK_TREE: '/elsewhere', GIT_INDEX_FILE: '/elsewhere/index' };
const credentials = { OPENAI_API_KEY: 'secret-value-1', CLAUDE_CODE_OAUTH_TOKEN: 'secret-value-2' };

test('an agent gets the environment of the caller without the marks of hosts and ties to a repository', async (t) => {
  const workspace = makeWorkspace(t);
  const bin = join(workspace.home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'codex'), codex);
  chmodSync(join(bin, 'codex'), 0o755);
  const state = join(workspace.base, 'state');
  const env = {
    ...hosts,
    ...repository,
    ...credentials,
    HARMLESS: 'kept',
    GIT_AUTHOR_NAME: 'Kept',
    JOB_STATE_DIR: state,
    PATH: `${bin}:${workspace.env.PATH}`,
  };
  const reply = await run(workspace, ['ask', '--backend', 'codex', '--prompt', 'x'], { env });
  assert.deepEqual([reply.code, reply.stdout], [0, 'yes'], reply.stderr);
  const seen = Object.fromEntries(
    readFileSync(join(workspace.home, 'env'), 'utf8')
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  for (const name of [...Object.keys(hosts), ...Object.keys(repository), 'JOB_STATE_DIR'])
    assert.equal(seen[name], undefined, name);
  assert.deepEqual(
    [seen.HARMLESS, seen.GIT_AUTHOR_NAME, seen.OPENAI_API_KEY, seen.CLAUDE_CODE_OAUTH_TOKEN],
    ['kept', 'Kept', credentials.OPENAI_API_KEY, credentials.CLAUDE_CODE_OAUTH_TOKEN],
  );
  const [id = ''] = readdirSync(join(state, 'jobs'));
  assert.equal(seen.JOB_ID, id);
  const folder = join(state, 'jobs', id);
  const spec = JSON.parse(readFileSync(join(folder, 'spec.json'), 'utf8'));
  assert.deepEqual(spec.environment.credentials, Object.keys(credentials).sort());
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    assert.doesNotMatch(readIfFile(join(folder, name)), /secret-value/, name);
});

function readIfFile(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
