// `reconcile --json`: one document of at most 16 KiB. What finds no room is counted in `left_out`; of what fired the newest stay, of what is
// outstanding what asks for somebody.
import { excerpt, plainText } from '../core/excerpt.ts';
import { wakeBytes, wakePage } from '../core/limits.ts';
import { nextCommand, nextCommands } from '../jobs/next-commands.ts';
import type { OnWake } from '../jobs/on-wake.ts';
import type { Outstanding } from '../jobs/outstanding.ts';
import type { Question } from '../jobs/questions.ts';
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
  const asked = questionRows(seen.questions);
  const unread = seen.uncollected.slice(0, wakePage.named);
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
    questions: asked,
    fired,
    outstanding: open,
    not_read: {
      count: seen.uncollected.length,
      newest: unread,
      next: unread.map((id) => nextCommands.result(id, root.option)),
    },
    left_out: {
      questions: seen.questions.length - asked.length,
      fired: seen.fired.length - fired.length,
      outstanding: seen.outstanding.length - open.length,
      older: seen.older,
    },
    next: {
      reconcile: nextCommand(root.option, 'reconcile', ...whose, '--since', String(nextSeq)),
      status: nextCommand(root.option, 'status', ...whose),
      wait: seen.wait,
      idle_check: nextCommand(root.option, 'idle-check', ...whose),
    },
  };
}

const listAtMost = 10;

/** At least one, and those after it that leave room for the rest. A path is never cut: somebody is to write to it. */
function questionRows(questions: readonly Question[]): unknown[] {
  const rows: unknown[] = [];
  for (const one of questions.slice(0, listAtMost)) {
    rows.push(questionRow(one));
    if (rows.length > 1 && Buffer.byteLength(JSON.stringify(rows)) > wakeBytes / 3) return rows.slice(0, -1);
  }
  return rows;
}

function questionRow(one: Question): Record<string, unknown> {
  const { view, file, answer, trouble, next } = one;
  return {
    id: view.id,
    state: view.state.state,
    file: file === null ? null : plainText(file),
    answer: answer === null ? null : plainText(answer),
    trouble: trouble === null ? null : line(trouble, 200),
    next,
  };
}

function firedRow(one: OnWake['fired'][number], root: StateRoot): Record<string, unknown> {
  const { view, late, wake } = one;
  return {
    at: isoOf(one.atMs),
    id: one.id,
    kind: view.spec?.kind ?? null,
    started_by: one.startedBy,
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
    started_by: one.startedBy,
    is_below: one.isBelow,
    late: one.late,
    concerns: concernWords(one),
    next: one.next,
  };
}
