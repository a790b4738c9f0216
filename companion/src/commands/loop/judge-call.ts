// `loop gate --judge-backend`: a restricted agent answers the questions of the boundary, as a recorded job of our own program. What it says is data; what
// cannot be read leaves the questions open.
import { findBackend } from '../../backends/registry.ts';
import { FaultError } from '../../core/errors.ts';
import { excerpt } from '../../core/excerpt.ts';
import type { Question } from '../../core/loop.ts';
import type { Answers } from '../../loop/evaluate.ts';
import { parseJudgment } from '../../loop/judge.ts';
import { judgePrompt, judgmentOf } from '../../loop/judge-prompt.ts';
import type { LoopPlace } from '../../loop/place.ts';
import { callerEnvironment } from '../../platform/env.ts';
import { companionFile, nodeFile } from '../../platform/self.ts';
import { runTool } from '../../platform/tool.ts';

const judgeMs = 30 * 60_000;
const judgeBytes = 256 * 1024;

export async function askJudge(
  place: LoopPlace,
  backend: string,
  questions: readonly Question[],
  digest: string,
): Promise<Record<string, { holds: boolean; why: string }> | null> {
  if (questions.length === 0) return null;
  // A program of the user's own config knows no profile but the standard one.
  const profile = findBackend(backend) ? 'restricted' : 'standard';
  const words = [
    'research',
    '--backend',
    backend,
    '--profile',
    profile,
    '--timeout',
    `${judgeMs}ms`,
    '--stdin',
    '--wait',
  ];
  const answer = await runTool({
    program: nodeFile(),
    args: [companionFile(), ...words, ...place.root.option],
    cwd: place.worktree,
    environment: callerEnvironment(),
    input: judgePrompt(questions),
    timeoutMs: 2 * judgeMs,
    limit: judgeBytes,
  });
  // Not launched at all: the caller has to know before a long suite is run for nothing.
  if (answer.how === 'exited' && answer.code === 1)
    throw new FaultError(
      'preflight',
      `cannot ask the judge ${backend}: ${excerpt(String(answer.stderr).split('\n')[0] ?? '', 300)}`,
    );
  const text = answer.code === 0 ? judgmentOf(String(answer.stdout), digest, questions) : undefined;
  const read = text === undefined ? undefined : parseJudgment(text);
  const answers: Answers | undefined = typeof read === 'object' ? read.answers : undefined;
  return answers ? { ...answers } : null;
}
