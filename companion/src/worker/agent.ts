// An agent's stream while it runs: every line is folded into the reading, and what matters at once is told at once - the
// conversation id at first sight (a killed run can then be continued), tool calls, the final event, a wait for a sign-in.
import { makeReading, type Reading } from '../backends/backend.ts';
import { backendOf, readSafely } from '../jobs/replay.ts';
import { isoNow } from '../platform/clock.ts';
import { readEvents } from '../store/journal.ts';
import type { Claim } from './claim.ts';
import type { LineSink } from './follow.ts';
import { agentSnapshot, type Progress, toolSnapshot } from './progress.ts';

export interface Agent {
  reading: Reading;
  sink: LineSink;
  /** Tell what the newest lines changed. */
  update(): void;
}

export function followAgent(claim: Claim, progress: Progress): Agent | undefined {
  const { spec, paths } = claim;
  const backend = backendOf(spec);
  if (!spec.staff || !backend) return undefined;
  const { staff } = spec;
  const reading = makeReading();
  let isFinalTold = false;
  // A replacement worker reads the stream from its beginning: what an earlier one told is not told again.
  const told = lastToolTold(claim);
  const ended = new Set<number>();

  const update = (): void => {
    const { conversationId } = reading;
    if (conversationId !== null && progress.state.conversation?.id !== conversationId) {
      const conversation = { backend: staff.backend, id: conversationId };
      progress.note('conversation', { conversation, asked_for: staff.resume }, { conversation });
    }
    for (const call of reading.tools) {
      if (call.n <= told || call.ended_at === null || ended.has(call.n)) continue;
      ended.add(call.n);
      progress.append('tool', { tool: toolSnapshot(call) });
    }
    if (reading.final !== null && !isFinalTold) {
      isFinalTold = true;
      progress.note('final_answer', { final: reading.final });
    }
    progress.snapshot(() => agentSnapshot(reading));
  };

  return {
    reading,
    sink: {
      stdout: (line) => readSafely(reading, () => backend.read(line, reading, isoNow())),
      stderr: (line) => readSafely(reading, () => backend.readError?.(line, reading, isoNow())),
    },
    update,
  };

  function lastToolTold({ generation }: Claim): number {
    if (generation === 1) return 0;
    const numbers = readEvents(paths, 0, 100_000).events.flatMap((event) => {
      const tool = event.type === 'tool' ? (event.tool as { n?: unknown } | undefined) : undefined;
      return typeof tool?.n === 'number' ? [tool.n] : [];
    });
    return Math.max(0, ...numbers);
  }
}
