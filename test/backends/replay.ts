// Replays a recorded run (test/fixtures/agents/ID/CASE.*) through a backend the way the worker does: every line of
// stdout, then the ending, then the verdict.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Backend, type Ending, makeReading, type Reading } from '../../companion/src/backends/backend.ts';
import { judgeStaff, type StaffReason, type StaffVerdict } from '../../companion/src/backends/verdict.ts';

export interface ReplayOptions {
  resume?: string | null | undefined;
  reason?: StaffReason;
  earlierError?: string | null;
  /** Another folder of recorded runs than the backend's own (an older release). */
  folder?: string;
}

const fixtures = join(import.meta.dirname, '../fixtures/agents');

export function listCases(id: string): string[] {
  const names = readdirSync(join(fixtures, id)).filter((name) => name.endsWith('.meta.json'));
  return names.map((name) => name.replace('.meta.json', '')).sort();
}

export function replay(
  backend: Backend,
  name: string,
  { resume = null, reason = 'exited', earlierError = null, folder = backend.id }: ReplayOptions = {},
): { reading: Reading; verdict: StaffVerdict } {
  const path = (kind: string) => join(fixtures, folder, `${name}.${kind}`);
  const meta: { exit_code: number | null; exit_signal: string | null } = JSON.parse(
    readFileSync(path('meta.json'), 'utf8'),
  );
  const lines = readFileSync(path('jsonl'), 'utf8').split('\n');
  const stderrTail = existsSync(path('stderr.txt')) ? readFileSync(path('stderr.txt'), 'utf8') : '';
  return replayLines(
    backend,
    lines,
    { exitCode: meta.exit_code, signal: meta.exit_signal, stderrTail },
    { resume, reason, earlierError },
  );
}

export function replayLines(
  backend: Backend,
  lines: readonly string[],
  end: Omit<Ending, 'byItself'>,
  { resume = null, reason = 'exited', earlierError = null }: ReplayOptions = {},
): { reading: Reading; verdict: StaffVerdict } {
  const reading = makeReading();
  const ending = { ...end, byItself: reason === 'exited' };
  const at = (n: number) => new Date(n * 1000).toISOString();
  for (const [n, line] of lines.entries()) backend.read(line, reading, at(n));
  for (const [n, line] of end.stderrTail.split('\n').entries()) backend.readError?.(line, reading, at(n));
  backend.close?.(reading, ending, { resume, earlierError });
  const { keepsConversation } = backend;
  return { reading, verdict: judgeStaff(reading, ending, { resume, reason, keepsConversation }) };
}
