/**
 * A repository with a loop of three milestones, and a scripted agent (a custom backend) that writes one file for each: `broken` for m2 the first
 * time, so that the verify command fails once, and `ok` when it is told to mend it. The same program answers the questions of the gate.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseReply, run } from './companion.ts';
import type { Workspace } from './workspace.ts';

export const milestones = ['m1', 'm2', 'm3'] as const;

const yes = JSON.stringify({
  answers: Object.fromEntries(['E1', 'E3', 'E5'].map((id) => [id, { holds: true, why: 'seen' }])),
});

/** `work`: what the agent does for milestone $m, as shell text; `judge`: what the judge prints. */
export function makeAgent(
  workspace: Workspace,
  { work = '', judge = yes }: { work?: string; judge?: string } = {},
): void {
  const folder = join(workspace.home, '.config/job-companion');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const script = join(workspace.home, 'agent.sh');
  const lines = [
    'brief=$HOME/brief-$JOB_ID; cat >"$brief"',
    `if grep -q 'You judge the boundary' "$brief"; then cat "$HOME/judge.txt"; exit 0; fi`,
    `m=$(sed -n 's/^# Milestone \\([a-z0-9]*\\):.*/\\1/p' "$brief" | head -1)`,
    'round=0; grep -q "is not right yet" "$brief" && round=1',
    'echo "$m $round" >>"$HOME/calls"',
    work || 'if [ "$m" = m2 ] && [ $round = 0 ]; then echo broken >"$m.txt"; else echo ok >"$m.txt"; fi; echo "did $m"',
  ];
  writeFileSync(script, `${lines.join('\n')}\n`);
  writeFileSync(join(workspace.home, 'judge.txt'), judge);
  const backends = { script: { argv: ['sh', script], brief: true } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ backends, default_backend: 'script' }));
}

/** Committed, so that the loop begins with a clean tree. */
export async function makeLoop(workspace: Workspace, more: string[] = []): Promise<void> {
  workspace.write('package.json', '{"name":"three-files"}\n');
  const words = milestones.flatMap((id) => [
    ...['--milestone', `${id}: write ${id}`],
    ...['--acceptance', `${id}: ${id}.txt says ok`],
  ]);
  const made = await run(workspace, [
    'loop',
    'init',
    'three files',
    ...words,
    '--verify',
    'tests: ! grep -l broken *.txt 2>/dev/null',
    ...more,
  ]);
  assert.equal(made.code, 0, made.stderr);
  workspace.git('add', '-A');
  workspace.git('commit', '-qm', 'begin the loop');
}

/** Subjects, the oldest first, from the beginning of the loop on. */
export function commits(workspace: Workspace): string[] {
  const subjects = workspace.git('log', '--reverse', '--format=%s').trim().split('\n');
  return subjects.slice(subjects.indexOf('begin the loop') + 1);
}

export async function launchLoop(workspace: Workspace, words: string[] = []): Promise<string> {
  const result = await run(workspace, ['loop', 'run', '--id-only', ...words]);
  assert.equal(result.code, 0, result.stderr);
  return result.stdout.trim();
}

export async function waitLoop(
  workspace: Workspace,
  id: string,
): Promise<{ code: number | null; record: Record<string, unknown> }> {
  const result = await run(workspace, ['wait', id, '--json', '--timeout', '10m'], { limitMs: 300_000 });
  return { code: result.code, record: parseReply(result) };
}
