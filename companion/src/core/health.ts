// The judgement of a run at an interval: from the last one and what was seen since then to the next checkpoint (formats 2.1, in the order of
// its table). Growth of output, CPU and liveness are never progress and never completion. Pure, and nothing here can stop anything.
import { type Activity, countDescendants, type Stillness, stillnessOf } from './activity.ts';
import { formatDuration } from './duration.ts';
import { excerpt } from './excerpt.ts';
import type { Checkpoint } from './health-words.ts';
import { unchangedCheckpoints } from './limits.ts';
import { type Pace, paceAfter, secondsLeft } from './pace.ts';
import { type ProbeAnswer, type ProbeReading, saysFailure } from './probe-answer.ts';
import { sha256, toHex } from './sha256.ts';

/** What the next judgement needs of the earlier ones. */
export interface HealthMemory {
  /** The newest checkpoint that was told. */
  n: number;
  /** The checkpoint that showed the newest change: names an episode without one. */
  since: number;
  /** Causes that were told and still last. */
  told: readonly string[];
  /** Intervals in a row without an observable change, and the same of the probe's numbers. */
  unchanged: number;
  probeUnchanged: number;
  /** Checkpoints in a row at which the probe was of no use. */
  troubles: number;
  /** The newest intervals. */
  window: readonly Activity[];
  probe: ProbeReading | null;
  pace: Pace | null;
}

export const freshMemory: HealthMemory = {
  n: 0,
  since: 0,
  told: [],
  unchanged: 0,
  probeUnchanged: 0,
  troubles: 0,
  window: [],
  probe: null,
  pace: null,
};

export interface Seen {
  n: number;
  at: string;
  elapsedMs: number;
  expectMs: number | null;
  everyMs: number;
  /** Null without a probe. */
  probe: ProbeAnswer | null;
  activity: Activity;
}

export interface Judgement {
  checkpoint: Checkpoint;
  memory: HealthMemory;
  /** There is a cause for attention that was not told yet. */
  isNews: boolean;
}

const reasonBytes = 600;

export function judgeHealth(before: HealthMemory, seen: Seen): Judgement {
  const reading = seen.probe?.kind === 'ok' ? seen.probe : null;
  const troubles = seen.probe?.kind === 'trouble' ? before.troubles + 1 : 0;
  const changes = changesOf(before, seen, reading);
  // An interval that was looked at for a part only is no evidence that nothing changes.
  const isWhole = seen.activity.spanMs >= seen.everyMs / 2;
  const window = [...before.window, seen.activity].slice(-unchangedCheckpoints);
  const memory: HealthMemory = {
    n: seen.n,
    since: changes.length > 0 ? seen.n : before.since,
    told: [],
    unchanged: changes.length > 0 ? 0 : before.unchanged + (isWhole ? 1 : 0),
    probeUnchanged:
      changes.length > 0 ? 0 : before.probeUnchanged + (isWhole && isComparable(before.probe, reading) ? 1 : 0),
    troubles,
    window,
    probe: reading ? newestOf(before.probe, reading) : before.probe,
    pace: reading ? paceAfter(before.pace, reading, seen.elapsedMs) : before.pace,
  };
  const stillness = stillnessOf(window);
  const causes = [...stillCauses(memory, stillness), ...taskCauses(seen)];
  const names = causes.flatMap((cause) => cause.names).sort();
  memory.told = [...new Set([...lastingOf(before.told, changes.length > 0, seen.probe), ...names])];

  const figures = stillness.words;
  const reasons = causes.map((cause) => cause.reason);
  if (causes.length === 0) reasons.push(...changes);
  if (reasons.length === 0) reasons.push(evidenceWords(memory, before, seen, figures));
  if (seen.probe?.kind === 'trouble') reasons.push(seen.probe.why);
  if (reading?.note) reasons.push(reading.note);
  if (reading?.message && !saysFailure(reading)) reasons.push(`the probe says "${reading.message}"`);
  // The causes come first; that it went on all the same is said behind them.
  const meanwhile = causes.length > 0 && changes.length > 0 ? ` (meanwhile: ${changes.join('; ')})` : '';

  const state = causes.length > 0 ? 'attention' : changes.length > 0 ? 'progressing' : 'unknown';
  return {
    checkpoint: {
      n: seen.n,
      at: seen.at,
      elapsed_seconds: Math.max(0, Math.floor(seen.elapsedMs / 1000)),
      state,
      attention_kind: state === 'attention' ? 'task_attention' : null,
      phase: reading?.phase ?? null,
      completed: reading?.completed ?? null,
      total: reading?.total ?? null,
      eta_seconds: reading?.etaSeconds ?? secondsLeft(memory.pace, reading, seen.elapsedMs),
      reason: excerpt(`${reasons.join('; ')}${meanwhile}`, reasonBytes),
      fingerprint: names.length > 0 ? names.join('+') : null,
    },
    memory,
    isNews: names.some((cause) => !before.told.includes(cause)),
  };
}

/** Row 3: what counts as an observable change, one phrase each. */
function changesOf({ probe: earlier }: HealthMemory, { activity }: Seen, now: ProbeReading | null): string[] {
  const changes: string[] = [];
  if (now && earlier) {
    if (now.completed !== null && earlier.completed !== null && now.completed > earlier.completed)
      changes.push(`completed went from ${earlier.completed} to ${countWords(now)}`);
    if (now.phase !== null && earlier.phase !== null && now.phase !== earlier.phase)
      changes.push(`the phase changed from "${earlier.phase}" to "${now.phase}"`);
  }
  if (activity.changed.length > 0) {
    const more = activity.changed.length > 1 ? ` and ${activity.changed.length - 1} more` : '';
    changes.push(`${excerpt(activity.changed[0] as string, 200)}${more} changed`);
  }
  return changes;
}

function isComparable(earlier: ProbeReading | null, now: ProbeReading | null): boolean {
  if (!earlier || !now) return false;
  return (now.completed !== null && earlier.completed !== null) || (now.phase !== null && earlier.phase !== null);
}

/** What a later answer is compared with: an answer that leaves something out leaves the older word on it. */
function newestOf(earlier: ProbeReading | null, now: ProbeReading): ProbeReading {
  const phase = now.phase ?? earlier?.phase ?? null;
  if (now.completed !== null || !earlier) return { ...now, phase };
  return { ...now, phase, completed: earlier.completed, total: earlier.total };
}

interface Cause {
  names: string[];
  reason: string;
}

/** Rows 1 and 2. */
function taskCauses({ probe, elapsedMs, expectMs }: Seen): Cause[] {
  const causes: Cause[] = [];
  if (probe?.kind === 'ok' && saysFailure(probe)) {
    const { status, phase, message } = probe;
    const evidence = toHex(sha256(new TextEncoder().encode(`${status}\0${phase}`))).slice(0, 8);
    const words = `status "${status}"${phase ? `, phase "${phase}"` : ''}${message ? `, "${message}"` : ''}`;
    causes.push({ names: [`probe_failed@${evidence}`], reason: `the probe reports failure (${words})` });
  }
  if (expectMs !== null && elapsedMs > expectMs) {
    const reason = `over the expected duration of ${formatDuration(expectMs)}: it runs for ${formatDuration(elapsedMs)}`;
    causes.push({ names: ['over_expected'], reason });
  }
  return causes;
}

/** Row 4. A probe that fails now and then makes its checkpoint unknown; one that always fails hides nothing for long. */
function stillCauses(memory: HealthMemory, stillness: Stillness): Cause[] {
  const { unchanged, probeUnchanged, probe, troubles, since } = memory;
  if (unchanged < unchangedCheckpoints || (troubles > 0 && troubles <= unchangedCheckpoints)) return [];
  const name = `no_change@${since}`;
  const during = `for ${unchanged} checkpoints in a row`;
  switch (stillness.kind) {
    case 'dead': {
      const reason = `dead_wait: ${during} no observable change, no CPU, no output and no descendant`;
      return [{ names: ['dead_wait', name], reason }];
    }
    case 'waiting':
      return [
        {
          names: [name],
          reason: `no observable change ${during}: it is asleep with ${countDescendants(stillness.descendants)}`,
        },
      ];
    default: {
      if (troubles > 0 || probeUnchanged < unchangedCheckpoints) return [];
      const at = probe?.completed === null || probe === null ? '' : ` (${countWords(probe)})`;
      const but = stillness.kind === 'working' ? `, but it works (${stillness.words})` : '';
      return [{ names: [name], reason: `no observable change by the probe ${during}${at}${but}` }];
    }
  }
}

/** Row 5: why it is not known. */
function evidenceWords(memory: HealthMemory, before: HealthMemory, { probe }: Seen, figures: string): string {
  const hasGoneBack =
    probe?.kind === 'ok' &&
    probe.completed !== null &&
    before.probe !== null &&
    before.probe.completed !== null &&
    probe.completed < before.probe.completed;
  if (hasGoneBack) return `completed went back from ${before.probe?.completed} to ${probe.completed} (${figures})`;
  if (probe?.kind === 'ok' && !before.probe && probe.completed !== null)
    return `not enough evidence: first answer of the probe, ${countWords(probe)} (${figures})`;
  const during = memory.unchanged > 1 ? `no observable change for ${memory.unchanged} checkpoints, ` : '';
  return `not enough evidence: ${during}${figures}`;
}

/** Of what was told before: the causes whose episode goes on. */
function lastingOf(told: readonly string[], hasChanged: boolean, probe: ProbeAnswer | null): string[] {
  const isWell = probe?.kind === 'ok' && !saysFailure(probe);
  return told.filter((cause) => {
    if (cause.startsWith('probe_failed@')) return !isWell;
    return cause === 'over_expected' || !hasChanged;
  });
}

function countWords({ completed, total }: ProbeReading): string {
  return total === null ? `${completed}` : `${completed} of ${total}`;
}
