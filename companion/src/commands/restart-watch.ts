// `restart ID` of a watch: the same condition once more, with a fresh bound of the same length, and as things are now.
import { parseDuration } from '../core/duration.ts';
import { FaultError, usageError } from '../core/errors.ts';
import type { Spec, WatchPart } from '../core/job.ts';
import { limits } from '../core/limits.ts';
import { lineageOf, requireFolder } from '../jobs/lineage.ts';
import type { StateRoot } from '../store/layout.ts';
import { loadWatch, watchIds } from '../watches/registry.ts';
import type { Context, Reply } from './command.ts';
import { launchAndTell, launchWords } from './launching.ts';
import type { Parsed } from './parse.ts';

export async function againWatch(
  context: Context,
  input: Parsed,
  spec: Spec,
  earlier: WatchPart,
  root: StateRoot,
  words: string,
): Promise<Reply> {
  for (const name of ['backend', 'model', 'profile', 'handback', 'share'])
    if (input.has(name)) throw usageError(`cannot take --${name} for a watch: it is for staff`);
  const cwd = requireFolder(spec, 'restart', root.option);
  const kind = await loadWatch(earlier.condition);
  if (!kind)
    throw new FaultError(
      'preflight',
      `cannot restart job ${spec.id}: there is no condition ${earlier.condition} here; there are ${watchIds.join(', ')}`,
    );
  const { start: _start, ...part } = earlier;
  const timeout = input.text('timeout');
  return launchAndTell(context, input, {
    kind: 'watch',
    verb: 'watch',
    ...launchWords(input, spec),
    cwd,
    deadlineMs: timeout === undefined ? spec.deadline_ms : parseDuration(timeout, '--timeout', limits.watchFor),
    killGraceMs: spec.kill_grace_ms,
    maxOutputBytes: spec.max_output_bytes,
    firstOutputMs: null,
    stallMs: null,
    lineage: lineageOf(spec, 'restart'),
    run: null,
    staff: null,
    watch: { ...part, ...(kind.start ? { start: kind.start(part.input) } : {}) },
    words,
  });
}
