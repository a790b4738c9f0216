// What a job tells of itself beside its state - the newest checkpoint or observation, a watch's last look, a timer's instant,
// what was handed back - as readers take it. The files lie where an agent may write: what has another form is left out, and every text is plain and bounded.
import { excerpt, plainText } from '../core/excerpt.ts';
import { isHandback } from '../core/handback.ts';
import { isId } from '../core/ids.ts';
import type {
  AttentionKind,
  Checkpoint,
  HandbackNote,
  Health,
  JobState,
  LivenessNote,
  WatchNote,
  WatchVerdict,
} from '../core/job.ts';
import { evidenceChars, queueNamed } from '../core/limits.ts';
import { instantOf } from '../core/recorded-time.ts';
import { nowMs } from '../platform/clock.ts';
import { readJson } from '../platform/files.ts';
import type { JobPaths } from '../store/layout.ts';
import { timerFacts } from './timer-facts.ts';
import { isQueued, type View } from './view.ts';

const healths: readonly unknown[] = ['progressing', 'unknown', 'attention'];
const verdicts: readonly unknown[] = ['pending', 'met', 'failed', 'error'];
/** What is told of a sentence, a name or a message. */
const sentenceBytes = 400;
const nameBytes = 120;
const pathBytes = 1000;

export function isHealth(value: unknown): value is Health {
  return healths.includes(value);
}

/** The newest judgement of a run; null when there is none that can be used. */
export function checkpointOf(state: JobState): Checkpoint | null {
  const value = asObject(state.checkpoint);
  const n = numberOf(value?.n);
  if (!value || n === null || instantOf(value.at) === null || !isHealth(value.state)) return null;
  const kind: AttentionKind = value.state === 'attention' ? 'task_attention' : null;
  return {
    n,
    at: value.at as string,
    elapsed_seconds: numberOf(value.elapsed_seconds) ?? 0,
    state: value.state,
    attention_kind: kind,
    phase: textOf(value.phase, nameBytes),
    completed: numberOf(value.completed),
    total: numberOf(value.total),
    eta_seconds: numberOf(value.eta_seconds),
    reason: textOf(value.reason, sentenceBytes) ?? '',
    fingerprint: textOf(value.fingerprint, nameBytes),
  };
}

const livenessWords: readonly unknown[] = ['working', 'waiting', 'dead_wait', 'unknown'];

/** The newest observation of an agent; null when there is none that can be used. */
export function livenessSeen(state: JobState): LivenessNote | null {
  const value = asObject(state.liveness);
  if (!value || !livenessWords.includes(value.word) || instantOf(value.at) === null) return null;
  return {
    word: value.word as LivenessNote['word'],
    reason: textOf(value.reason, sentenceBytes) ?? '',
    observations: numberOf(value.observations) ?? 1,
    at: value.at as string,
  };
}

/** What a watch saw last, without what only programs need. */
export function watchOf(state: JobState): Omit<WatchNote, 'facts'> | null {
  const value = asObject(state.watch);
  if (!value || !verdicts.includes(value.verdict)) return null;
  return {
    verdict: value.verdict as WatchVerdict,
    word: textOf(value.word, nameBytes) ?? '',
    evidence: textOf(value.evidence, evidenceChars * 4) ?? '',
    polls: numberOf(value.polls) ?? 0,
    told: numberOf(value.told) ?? 0,
    ...(numberOf(value.changes) === null ? {} : { changes: numberOf(value.changes) as number }),
    ...(value.watched_to_end === true ? { watched_to_end: true as const } : {}),
    troubles: numberOf(value.troubles) ?? 0,
    trouble: textOf(value.trouble, sentenceBytes),
  };
}

/** The condition in words, and what the newest look said; null for a job that is no watch. */
export function watchSeen({ spec, state, paths }: View): Record<string, unknown> | null {
  if (!spec?.watch) return null;
  const { condition, words, every_ms } = spec.watch;
  const seen = watchOf(state) ?? {
    verdict: 'pending',
    word: '',
    evidence: '',
    polls: 0,
    told: 0,
    troubles: 0,
    trouble: null,
  };
  return {
    condition: textOf(condition, nameBytes),
    words: textOf(words, sentenceBytes),
    every_ms: numberOf(every_ms),
    ...seen,
    polls: Math.max(seen.polls, pollsIn(paths)),
  };
}

/** Looks that said nothing new are counted where the worker remembers them, not in the state. */
function pollsIn({ cursor }: JobPaths): number {
  const read = readJson(cursor);
  return (read.kind === 'ok' ? numberOf(asObject(read.value.note)?.polls) : null) ?? 0;
}

/** The instant, how far it is and what it is for; null for a job that is no timer. */
export function timerSeen({ spec, state }: View): Record<string, unknown> | null {
  if (!spec?.timer) return null;
  const { slot, ...facts } = timerFacts(spec.timer);
  const due = instantOf(facts.due_at);
  const rest = due === null || state.ended_at !== null ? null : Math.max(0, due - nowMs());
  return { ...facts, due_at: due === null ? null : facts.due_at, due_in_ms: rest, slot: textOf(slot, nameBytes) };
}

/** Its place in the queue as its worker saw it last; without a place when it has not looked yet. Null for a job that is not queued. */
export function queueSeen(view: View): QueueSeen | null {
  if (!isQueued(view)) return null;
  const { place, live, behind, held } = asObject(view.state.queue) ?? {};
  const ids = Array.isArray(behind) ? behind.filter((id) => typeof id === 'string' && isId(id)) : [];
  return {
    place: numberOf(place),
    live: numberOf(live),
    max_live: view.spec?.max_live ?? 0,
    behind: ids.slice(0, queueNamed),
    ...(typeof held === 'string' ? { held: excerpt(plainText(held), evidenceChars) } : {}),
  };
}

export interface QueueSeen {
  place: number | null;
  /** At work in its pool. */
  live: number | null;
  max_live: number;
  behind: string[];
  /** Why it does not go on by itself. */
  held?: string;
}

export interface HandbackSeen extends HandbackNote {
  /** Ordered files that lay there at launch. */
  before: number;
}

/** What was handed back so far; null for a job without a folder for it. */
export function handbackSeen({ spec, state }: View): HandbackSeen | null {
  if (!spec?.handback) return null;
  const value = asObject(state.handback);
  return {
    dir: excerpt(plainText(String(spec.handback.dir)), pathBytes),
    told: numberOf(value?.told) ?? 0,
    newest: textOf(value?.newest, nameBytes),
    frozen: value?.frozen === true,
    before: Object.keys(asObject(spec.handback.baseline) ?? {}).filter(isHandback).length,
  };
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function textOf(value: unknown, limit: number): string | null {
  return typeof value === 'string' ? excerpt(plainText(value).replace(/\s+/g, ' '), limit) : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
