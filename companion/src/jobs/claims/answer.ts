// Where the claims of a job stand: in the final answer of an agent, in the last output of a run. Text of others, bounded.
import { blockFault, type ParsedClaims, parseClaims } from '../../core/completion-block.ts';
import type { Spec } from '../../core/job.ts';
import { claimedAnswerBytes, claimedOutputBytes } from '../../core/limits.ts';
import { readRange } from '../../platform/files.ts';
import type { JobPaths } from '../../store/layout.ts';
import { backendOf, replay } from '../replay.ts';
import { isEnded, type View } from '../view.ts';

/** The claims of an ended job, or why there are none. */
export function claimsOf(view: View): ParsedClaims {
  const { spec } = view;
  if (!isEnded(view.state)) return blockFault('NO_BLOCK', 'it is not finished');
  if (view.damage !== null || spec === null) return blockFault('NO_BLOCK', 'its record cannot be read');
  if (spec.kind !== 'staff' && spec.kind !== 'run')
    return blockFault('NO_BLOCK', `a ${spec.kind} claims nothing: it has no answer`);
  const answer = spec.kind === 'run' ? endOf(view.paths.output, claimedOutputBytes) : answerOf(view, spec);
  return answer === null ? blockFault('NO_BLOCK', 'it has no final answer') : parseClaims(answer);
}

/** What did not succeed has a report for a result: the answer, if there was one, is in the stream. */
function answerOf({ paths, state }: View, spec: Spec): string | null {
  if (state.state === 'done') return endOf(paths.result, claimedAnswerBytes);
  if (backendOf(spec)?.answerFrom === 'stdout') return endOf(paths.output, claimedAnswerBytes);
  return replayed(spec, paths);
}

function replayed(spec: Spec, paths: JobPaths): string | null {
  const { answer } = replay(spec, paths);
  return answer === null || answer.trim() === '' ? null : answer;
}

function endOf(file: string, bytes: number): string | null {
  const text = readRange(file, -bytes, bytes)?.bytes.toString('utf8') ?? '';
  return text.trim() === '' ? null : text;
}
