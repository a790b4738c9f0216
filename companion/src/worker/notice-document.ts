// What a notifier reads on its stdin: one JSON document about the job as it is now, the event that it is told of, and the exact commands that
// go on. The words of others in it are plain and bounded.
import type { JobEvent } from '../core/events.ts';
import { excerpt, plainText, plainValue } from '../core/excerpt.ts';
import { excerptBytes } from '../core/limits.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { inspect, isEnded } from '../jobs/view.ts';
import { isoNow } from '../platform/clock.ts';

export function noticeDocument(root: string, id: string, event: Partial<JobEvent> & { type: string }): string {
  const { spec, state, paths } = inspect(root, id);
  // Whoever gets it may stand anywhere.
  const option = ['--state-dir', root];
  const facts = {
    id,
    kind: spec?.kind ?? null,
    verb: spec?.verb ?? null,
    owner: spec?.owner ?? null,
    label: spec?.label ?? null,
    state: state.state,
    health: state.health,
    attention_kind: state.attention_kind,
    reason: reasonOf(event, state.error),
    exit_code: state.exit_code,
    error: state.error,
    warnings: state.warnings.slice(0, 5),
    event: { ...event, type: event.type, seq: event.seq ?? state.seq },
  };
  const timer = spec?.timer
    ? { due_at: spec.timer.due_at, slot: spec.timer.slot, message: spec.timer.message }
    : undefined;
  return `${JSON.stringify({
    ...(plainValue(facts, excerptBytes * 2) as object),
    ...(timer ? { timer } : {}),
    // Paths and commands are ours and stay whole.
    result_path: paths.result,
    at: isoNow(),
    next: {
      // Each file has its notice: whoever is told of one knows all before it.
      wait: nextCommands.waitOn(
        id,
        isEnded(state) ? null : spec,
        option,
        event.type === 'handback' ? (event.seq ?? null) : null,
      ),
      result: nextCommands.result(id, option),
      observe: nextCommands.observe(id, option),
    },
  })}\n`;
}

function reasonOf(event: { [field: string]: unknown }, error: { message: string } | null): string | null {
  if (typeof event.reason === 'string') return event.reason;
  return error ? excerpt(plainText(error.message), excerptBytes * 2) : null;
}
