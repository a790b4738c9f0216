// `reconcile --json`: one document of at most 16 KiB. What finds no room is counted in `left_out`; of what fired the newest stay, of what is
// outstanding what asks for somebody.
import { excerpt, plainText } from '../core/excerpt.ts';
import { wakeBytes } from '../core/limits.ts';
import { nextCommand } from '../jobs/next-commands.ts';
import type { OnWake } from '../jobs/on-wake.ts';
import type { Outstanding } from '../jobs/outstanding.ts';
import { isoOf, localOf } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import { concernWords, firedWords, line, nextOfFired, subjectWords } from './wake-words.ts';

export function wakeDocument(seen: OnWake, root: StateRoot): Record<string, unknown> {
  const fired = seen.fired.map((one) => firedRow(one, root));
  const open = seen.outstanding.map(openRow);
  for (;;) {
    const document = documentOf(seen, root, fired, open);
    if (Buffer.byteLength(JSON.stringify(document)) <= wakeBytes) return document;
    // The longer list gives way.
    if (fired.length >= open.length && fired.length > 0) fired.shift();
    else if (open.length > 0) open.pop();
    else return document;
  }
}

function documentOf(seen: OnWake, root: StateRoot, fired: unknown[], open: unknown[]): Record<string, unknown> {
  const { nowMs, last, owner, nextSeq } = seen;
  const whose = owner === null ? [] : ['--owner', owner];
  return {
    now: isoOf(nowMs),
    local: localOf(nowMs),
    owner: owner === null ? null : excerpt(plainText(owner), 200),
    state_folder: root.folder,
    last_look: last === null ? null : { at: isoOf(last.at_ms), age_ms: Math.max(0, nowMs - last.at_ms) },
    since: seen.since,
    next_seq: nextSeq,
    is_stored: seen.isKept,
    restarts: {
      host: seen.restarted,
      clock_set_back_ms: seen.setBackMs,
      since_in_the_future: seen.isBeyond,
      workers: seen.changes
        .slice(-listAtMost)
        .map(({ id, type, count, atMs }) => ({ id, type, count, at: isoOf(atMs) })),
      lost: seen.lost.slice(-listAtMost),
    },
    fired,
    outstanding: open,
    not_read: { count: seen.uncollected.length, newest: seen.uncollected.slice(0, 5) },
    left_out: {
      fired: seen.fired.length - fired.length,
      outstanding: seen.outstanding.length - open.length,
      older: seen.older,
    },
    next: {
      reconcile: nextCommand(root.option, 'reconcile', ...whose, '--since', String(nextSeq)),
      status: nextCommand(root.option, 'status', ...whose),
    },
  };
}

const listAtMost = 10;

function firedRow(one: OnWake['fired'][number], root: StateRoot): Record<string, unknown> {
  const { view, late, wake } = one;
  return {
    at: isoOf(one.atMs),
    id: one.id,
    kind: view.spec?.kind ?? null,
    wake,
    count: one.count,
    state: view.state.state,
    error_code: view.state.error?.code ?? null,
    what: line(firedWords(one), 240),
    late: late === null ? null : { kind: late.kind, words: line(late.words, 200) },
    next: nextOfFired(one, root),
  };
}

function openRow(one: Outstanding): Record<string, unknown> {
  const { view, health, queue } = one;
  return {
    id: view.id,
    kind: view.spec?.kind ?? null,
    what: subjectWords(one),
    state: view.state.state,
    supervision: one.condition,
    health: health.health,
    attention_kind: health.attention_kind,
    age_ms: one.ageMs,
    left_ms: one.leftMs,
    worker: one.worker,
    last_event_age_ms: one.lastEventMs,
    queue,
    is_awaited: one.isAwaited,
    late: one.late,
    concerns: concernWords(one),
    next: one.next,
  };
}
