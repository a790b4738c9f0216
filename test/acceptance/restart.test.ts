/**
 * `restart` (contract 5, i2): a new job with its own id, linked to the old one, from the same task and configuration, in the old
 * folder, with this caller's environment and a fresh default limit. The old record stays as it is, byte for byte.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parseReply, type RunOptions, run } from '../helpers/companion.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

const HOUR = 3_600_000;

test('a restarted job is a new one, linked to the old, which does not change by a byte', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await finish(
    workspace,
    ['run', '--label', 'the build', '--', 'sh', '-c', 'echo run >>runs; exit 3'],
    3,
  );
  const before = picture(workspace, first);
  const second = await finish(workspace, ['restart', first], 3);
  const third = await finish(workspace, ['restart', second], 3);
  assert.equal(new Set([first, second, third]).size, 3);
  assert.deepEqual(picture(workspace, first), before);
  assert.equal(workspace.read('runs'), 'run\nrun\nrun\n');
  assert.equal(spec(workspace, first).lineage, null);
  assert.deepEqual(spec(workspace, second).lineage, { relation: 'restart', parent: first, root: first });
  assert.deepEqual(spec(workspace, third).lineage, { relation: 'restart', parent: second, root: first });
  assert.deepEqual(spec(workspace, second).run, spec(workspace, first).run);
});

test('what was asked for is kept: command, folder, success code, caps and limits that the caller opted into', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('in here'));
  symlinkSync(workspace.path('in here'), workspace.path('way'));
  const options = ['--cwd', 'way', '--success-exit', '7', '--max-output', '2M', '--kill-after', '1s'];
  const limits = ['--stall-after', '5m', '--first-output', '4m', '--keep-children'];
  const command = ['sh', '-c', 'pwd; printf "%s|" "$@"; exit 7', 'name', '', 'two words', "it's", '--', '$x'];
  const first = await finish(workspace, ['run', ...options, ...limits, '--', ...command], 0);
  const second = await finish(workspace, ['restart', first], 0);
  const words = `${workspace.path('in here')}\n|two words|it's|--|$x|`;
  for (const id of [first, second]) assert.equal((await run(workspace, ['result', id])).stdout, words);
  const kept = ['cwd', 'run', 'kill_grace_ms', 'max_output_bytes', 'first_output_ms', 'stall_ms'] as const;
  for (const name of kept) assert.deepEqual(spec(workspace, second)[name], spec(workspace, first)[name], name);
});

test('the limit is a fresh default one unless --timeout is given', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await finish(workspace, ['run', '--timeout', '90s', '--', 'true'], 0);
  const second = await finish(workspace, ['restart', first], 0);
  assert.equal(spec(workspace, second).deadline_ms, 24 * HOUR);
  const third = await finish(workspace, ['restart', first, '--timeout', '5m'], 0);
  assert.equal(spec(workspace, third).deadline_ms, HOUR / 12);
});

test('a restarted staff job has the default limit of staff, and no more than staff may have', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const first = await finish(workspace, ['staffer', '--backend', 'cat', '--timeout', '5m', '--prompt', '--my task'], 0);
  const second = await finish(workspace, ['restart', first], 0);
  assert.equal((await run(workspace, ['result', second])).stdout, '--my task');
  assert.equal(spec(workspace, second).deadline_ms, HOUR);
  const refused = await run(workspace, ['restart', first, '--timeout', '3h']);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /--timeout 3h: it is out of range; allowed: 1s to 2h/);
});

test('a restarted staff job keeps backend, mode, model, profile, folder and opted-in limits', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  mkdirSync(workspace.path('below'));
  const options = ['--profile', 'unrestricted', '--model', 'm-1', '--cwd', 'below'];
  const limits = ['--stall-after', '5m', '--first-output', '4m'];
  const first = await finish(workspace, ['staffer', '--backend', 'cat', ...options, ...limits, '--prompt', 'x'], 0);
  const second = await finish(workspace, ['restart', first], 0);
  for (const name of ['verb', 'kind', 'cwd', 'staff', 'first_output_ms', 'stall_ms'] as const) {
    assert.deepEqual(spec(workspace, second)[name], spec(workspace, first)[name], name);
  }
});

test('a restarted ask answers before it returns, with its code', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const asked = await run(workspace, ['ask', '--profile', 'standard', '--backend', 'cat', '--prompt', 'why?']);
  assert.deepEqual([asked.code, asked.stdout], [0, 'why?']);
  const { id } = parseReply<{ id: string }>(await run(workspace, ['result', '--json']));
  const again = await run(workspace, ['restart', id]);
  assert.deepEqual([again.code, again.stdout], [0, 'why?']);
  const only = await run(workspace, ['restart', id, '--id-only']);
  assert.match(only.stdout, /^ask-[0-9a-z]+-[0-9a-z]+\n$/);
  assert.equal((await run(workspace, ['wait', only.stdout.trim()])).code, 0);
});

test("the environment is the caller's of now, the owner too", async (t) => {
  const workspace = makeWorkspace(t);
  const command = ['sh', '-c', 'echo "$WORD"; pwd'];
  const args = ['run', '--owner', 'a', '--label', 'one', '--', ...command];
  const first = await finish(workspace, args, 0, { env: { WORD: 'then' } });
  mkdirSync(workspace.path('elsewhere'));
  const options = { env: { WORD: 'now', JOB_OWNER: 'b' }, cwd: workspace.path('elsewhere') };
  const second = await finish(workspace, ['restart', first], 0, options);
  assert.equal((await run(workspace, ['result', second])).stdout, `now\n${workspace.dir}\n`);
  assert.equal(spec(workspace, second).owner, 'b');
});

test('label and --max-live stay unless given; the owner too, when nobody says who asks now', async (t) => {
  const workspace = makeWorkspace(t);
  withBackend(workspace);
  const kept = (id: string) => {
    const { owner, label, max_live } = spec(workspace, id) as unknown as Record<string, unknown>;
    return [owner, label, max_live];
  };
  const asked = ['--owner', 'a', '--label', 'one', '--max-live', '3'];
  const task = ['staffer', '--backend', 'cat', '--prompt', 'x'];
  workspace.write('there', '');
  for (const words of [
    ['run', ...asked, '--', 'true'],
    [...task, ...asked],
    ['watch', 'file', 'there', '--for', '1h', ...asked],
  ]) {
    const first = await finish(workspace, words, 0);
    const again = await finish(workspace, ['restart', first], 0);
    assert.deepEqual(kept(again), ['a', 'one', 3], words.join(' '));
    const given = ['--owner', 'b', '--label', '', '--max-live', '2'];
    assert.deepEqual(kept(await finish(workspace, ['restart', again, ...given], 0)), ['b', '', 2]);
    const other = await finish(workspace, ['restart', again], 0, { env: { JOB_OWNER: 'c' } });
    assert.deepEqual(kept(other), ['c', 'one', 3]);
  }
  const timer = await finish(workspace, ['timer', 'in', '1s', '--label', 'one', '--owner', 'a'], 0);
  assert.deepEqual(kept(await finish(workspace, ['restart', timer], 0)).slice(0, 2), ['a', 'one']);
});

test('continue keeps label and owner, and asks for its turn anew', async (t) => {
  const workspace = makeWorkspace(t);
  const script = `#!/bin/sh
case $1 in --version) echo 'codex-cli 0.171.0'; exit ;; esac
cat >/dev/null
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"yes"}}'
echo '{"type":"turn.completed"}'
`;
  writeFileSync(join(workspace.home, 'codex'), script, { mode: 0o755 });
  const env = { PATH: `${workspace.home}:${workspace.env.PATH}` };
  const asked = ['--owner', 'a', '--label', 'one', '--max-live', '3'];
  const first = await finish(workspace, ['staffer', '--backend', 'codex', '--prompt', 'x', ...asked], 0, { env });
  for (const [given, label] of [
    [[], 'one'],
    [['--label', 'two'], 'two'],
  ] as const) {
    const next = await finish(workspace, ['continue', '--job', first, '--prompt', 'y', ...given], 0, { env });
    const now = spec(workspace, next) as unknown as Record<string, unknown>;
    assert.deepEqual([now.owner, now.label, now.max_live], ['a', label, undefined]);
  }
});

test('a live job is not restarted, and the way to end it is named', async (t) => {
  const workspace = makeWorkspace(t);
  const launched = await run(workspace, ['run', '--id-only', '--kill-after', '0s', '--', 'sleep', '600']);
  const id = launched.stdout.trim();
  const refused = await run(workspace, ['restart', id]);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(
    refused.stderr,
    new RegExp(`cannot restart job ${id}: it is (starting|running)\ntry: .* cancel ${id}\n`),
  );
  assert.equal(readdirSync(workspace.path('.job-state/jobs')).length, 1);
  assert.equal((await run(workspace, ['cancel', id])).code, 0);
  const again = await run(workspace, ['restart', id, '--id-only']);
  assert.equal((await run(workspace, ['cancel', again.stdout.trim()])).code, 0);
});

test('a folder or program that is gone is told, and nothing is made', async (t) => {
  const workspace = makeWorkspace(t);
  mkdirSync(workspace.path('soon gone'));
  const program = workspace.write('soon gone/tool', '#!/bin/sh\necho tool\n');
  chmodSync(program, 0o755);
  const inFolder = await finish(workspace, ['run', '--cwd', 'soon gone', '--', 'true'], 0);
  const ofTool = await finish(workspace, ['run', '--', program], 0);
  rmSync(workspace.path('soon gone'), { recursive: true });
  const before = readdirSync(workspace.path('.job-state/jobs'));
  for (const [id, words] of [
    [inFolder, /its folder \S*\/soon gone is gone/],
    [ofTool, /no executable file of that name/],
  ] as const) {
    const refused = await run(workspace, ['restart', id]);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, words);
  }
  assert.deepEqual(readdirSync(workspace.path('.job-state/jobs')), before);
});

test('two restarts with one once-key are one job', async (t) => {
  const workspace = makeWorkspace(t);
  const first = await finish(workspace, ['run', '--', 'sh', '-c', 'echo run >>runs'], 0);
  const ids = await Promise.all(
    [1, 2, 3].map(async () => (await run(workspace, ['restart', first, '--id-only', '--once-key', 'k'])).stdout.trim()),
  );
  assert.equal(new Set(ids).size, 1);
  assert.equal((await run(workspace, ['wait', ids[0]!])).code, 0);
  assert.equal(workspace.read('runs'), 'run\nrun\n');
});

/** Launches, waits for the end, and gives the id. */
async function finish(workspace: Workspace, args: string[], code: number, options?: RunOptions): Promise<string> {
  const at = args.includes('--') ? args.indexOf('--') : args.length;
  const launched = await run(workspace, [...args.slice(0, at), '--id-only', ...args.slice(at)], options);
  assert.equal(launched.code, 0, launched.stderr);
  const id = launched.stdout.trim();
  assert.equal((await run(workspace, ['wait', id])).code, code);
  return id;
}

function spec(workspace: Workspace, id: string): Record<string, unknown> {
  return JSON.parse(workspace.read(`.job-state/jobs/${id}/spec.json`));
}

/** Every file of a job with its times and content. */
function picture(workspace: Workspace, id: string): string[] {
  const folder = workspace.path('.job-state/jobs', id);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      return `${path} ${lstatSync(path).mtimeMs} ${content}`;
    })
    .sort();
}

function withBackend(workspace: Workspace): void {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends: { cat: { argv: ['cat'] } } }));
}
