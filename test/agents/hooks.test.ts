/**
 * The hooks that `setup --hooks` turns on, run by the real claude and codex: at the end of a turn and with a new prompt. What is said
 * with a prompt stands in the conversation; neither hook holds the turn up.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { run } from '../helpers/companion.ts';
import { eventually } from '../helpers/eventually.ts';
import { launch } from '../helpers/jobs.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { makeAgentLab } from '../lab/agent-lab.ts';
import { profile as claude } from '../lab/agents/claude/profile.ts';
import { profile as codex } from '../lab/agents/codex/profile.ts';
import type { LabProfile } from '../lab/agents/profile.ts';
import { plainText } from '../lab/model-server/scenarios.mjs';

interface Host {
  profile: LabProfile;
  /** One turn, as a person's script asks for it. */
  args: string[];
  settings(workspace: Workspace): string;
  /** Where it keeps its conversations. */
  store: string;
}

const hosts: Host[] = [
  {
    profile: claude,
    args: ['-p', 'Say a word.', '--output-format', 'json'],
    settings: ({ path }) => path('.claude/settings.local.json'),
    store: '.claude/projects',
  },
  {
    profile: codex,
    // A person trusts the hooks once by hand; a script that vets them says so.
    args: ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', 'Say a word.'],
    settings: ({ home }) => join(home, '.codex/hooks.json'),
    store: '.codex/sessions',
  },
];

for (const host of hosts) {
  const { id } = host.profile;
  test(`${id} runs both hooks, the conversation holds the finished job, and the turn ends as ever`, async (t) => {
    const { workspace, job, said, turn } = await makeDesk(t, host);
    const out = await turn();
    assert.ok(out.includes(plainText), out);
    const words = `${job} (failed)`;
    assert.ok(said('Stop').systemMessage?.includes(words), JSON.stringify(said('Stop')));
    assert.ok(said('UserPromptSubmit').hookSpecificOutput?.additionalContext.includes(words));
    assert.ok(readAll(join(workspace.home, host.store)).includes(words), 'the conversation does not hold it');
  });
}

test('codex runs no hook that nobody has trusted, as setup says', async (t) => {
  const host = hosts.find(({ profile }) => profile.id === 'codex') as Host;
  const args = host.args.filter((word) => word !== '--dangerously-bypass-hook-trust');
  const { isRun, turn } = await makeDesk(t, { ...host, args });
  assert.ok((await turn()).includes(plainText));
  assert.deepEqual(['Stop', 'UserPromptSubmit'].filter(isRun), []);
});

/** A finished job that nobody has collected, and the hooks turned on, with a copy of what each says. */
async function makeDesk(t: TestContext, { profile, args, settings }: Host) {
  const workspace = makeWorkspace(t);
  const lab = await makeAgentLab(workspace, profile, 'text');
  const { id: job } = await launch(workspace, ['--', 'false']);
  await eventually('its end', async () => (await run(workspace, ['status', job])).code === 3, { limitMs: 30_000 });
  const setup = await run(workspace, ['setup', '--hooks', profile.id, '--apply'], { env: lab.env });
  assert.equal(setup.code, 0, setup.stderr);
  const copy = (event: string) => join(workspace.base, `said-${event}`);
  const file = settings(workspace);
  const text = readFileSync(file, 'utf8');
  const kept = text.replaceAll(/ (\w+) 2>\/dev\/null \|\| :"/g, (_, event) => ` ${event} | tee ${copy(event)}"`);
  assert.notEqual(kept, text);
  writeFileSync(file, kept);
  return {
    workspace,
    job,
    isRun: (event: string) => existsSync(copy(event)),
    said(event: string): { systemMessage?: string; hookSpecificOutput?: { additionalContext: string } } {
      assert.ok(existsSync(copy(event)), `the hook for ${event} was not run`);
      return JSON.parse(readFileSync(copy(event), 'utf8'));
    },
    async turn() {
      const going = promisify(execFile)(lab.program, args, { cwd: workspace.dir, env: lab.env, timeout: 240_000 });
      going.child.stdin?.end();
      return (await going).stdout;
    },
  };
}

function readAll(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}
