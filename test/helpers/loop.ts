/**
 * A repository with a loop of three milestones, whose verify command is a script in it; and the verbs of a loop as short calls.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { GateReport, LoopState } from '../../companion/src/core/loop.ts';
import { parseReply, type RunResult, run } from './companion.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

export interface LoopWorkspace extends Workspace {
  loop(...args: string[]): Promise<RunResult>;
  state(): LoopState;
  read(file: string): string;
  /** Start, a file of code, checkpoint: one whole iteration without its gate. */
  iterate(text?: string): Promise<void>;
  gate(...args: string[]): Promise<GateReport & { code: number | null; judge_digest: string; id: string }>;
}

export const milestones = ['m1', 'm2', 'm3'];

export async function makeLoop(t: TestContext, options: readonly string[] = []): Promise<LoopWorkspace> {
  const workspace = makeWorkspace(t);
  const loop = (...args: string[]) => run(workspace, ['loop', ...args]);
  const read = (file: string) => readFileSync(workspace.path(file), 'utf8');
  workspace.write('verify.sh', 'test ! -e broken\n');
  workspace.write('package.json', '{"name":"x"}\n');
  const words = milestones.flatMap((id) => [
    '--milestone',
    `${id}: step ${id}`,
    '--acceptance',
    `${id}: code.js has ${id}`,
  ]);
  await expectCode(0, loop('init', 'Three steps', ...words, '--verify', 'suite: sh verify.sh', ...options));
  workspace.git('add', '-A');
  workspace.git('commit', '-q', '-m', 'A loop');
  const state = () => JSON.parse(read('.loop/state.json')) as LoopState;
  return {
    ...workspace,
    loop,
    read,
    state,
    async iterate(text = 'step') {
      await expectCode(0, loop('start'));
      appendFileSync(workspace.path('code.js'), `${text} ${state().current?.milestone}\n`);
      await expectCode(0, loop('checkpoint', '--did', 'a step', '--verified', 'verify.sh passed'));
    },
    async gate(...args) {
      const answer = await loop('gate', '--json', ...args);
      return { code: answer.code, ...parseReply<GateReport & { judge_digest: string; id: string }>(answer) };
    },
  };
}

export async function expectCode(code: number, answer: Promise<RunResult>): Promise<RunResult> {
  const done = await answer;
  if (done.code !== code) throw new Error(`code ${done.code} instead of ${code}\n${done.stdout}\n${done.stderr}`);
  return done;
}
