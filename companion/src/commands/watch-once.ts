// `watch KIND ... --once`: one look, now. No job, nothing is made; the exit code is the verdict.
import { type ExitCode, exitCodes } from '../core/exit-codes.ts';
import { attempt } from '../jobs/watch-attempt.ts';
import { lineOf } from '../jobs/watch-lines.ts';
import { line } from '../jobs/watch-words.ts';
import { callerEnvironment } from '../platform/env.ts';
import { onInterrupt } from '../platform/interrupt.ts';
import type { Place, Watch } from '../watches/watch.ts';
import type { Context, Reply } from './command.ts';
import type { Parsed } from './parse.ts';

const codes = { met: exitCodes.done, pending: exitCodes.pending, failed: exitCodes.unsuccessful } as const;

export async function lookNow(context: Context, kind: Watch, input: Parsed, place: Place): Promise<Reply> {
  const read = kind.read(input, place);
  // Ctrl-C ends the programs that were started as well.
  const stop = new AbortController();
  const release = onInterrupt(() => stop.abort());
  try {
    const start = kind.start?.(read.input) ?? null;
    const answer = await attempt(kind, read.input, start, {
      place: { root: place.stateRoot, cwd: context.cwd, environment: callerEnvironment() },
      attemptMs: input.durationOrDefault('attempt-timeout'),
      signal: stop.signal,
    });
    if (answer === null) return { code: exitCodes.canceled };
    const seen =
      answer.kind === 'look'
        ? { verdict: answer.verdict, word: answer.word, evidence: answer.evidence, facts: answer.facts }
        : { verdict: 'error' as const, word: answer.cause, evidence: answer.message, facts: {} };
    const code: ExitCode = answer.kind === 'look' ? codes[answer.verdict] : exitCodes.unsuccessful;
    const json = lineOf({ type: 'status', kind: kind.id, id: null, ...seen });
    return { code, out: `${line(seen.evidence)}\n`, json: input.has('json') ? json : undefined };
  } finally {
    release();
  }
}
