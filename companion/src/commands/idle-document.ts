// The document of `idle-check --json`: at most so many bytes; what is wrong comes first, and what did not fit is counted.
import { excerpt, plainText } from '../core/excerpt.ts';
import { idleBytes } from '../core/limits.ts';
import type { Deliveries } from '../jobs/deliveries.ts';
import { type IdleReport, isFaulty, type JudgedJob, type JudgedTimer } from '../jobs/idle.ts';
import { dueOf } from '../jobs/idle-seen.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import type { View } from '../jobs/view.ts';
import type { Waiter } from '../jobs/waiters.ts';
import { isoNow, nowMs } from '../platform/clock.ts';
import type { StateRoot } from '../store/layout.ts';
import { answerOf } from './idle-page.ts';
import { faultOf } from './idle-words.ts';

type Row = Record<string, unknown>;

export function idleDocument(report: IdleReport, owner: string | null, root: StateRoot): Row {
  const head = {
    now: isoNow(),
    state_folder: root.folder,
    owner: owner === null ? null : short(owner),
    safe: report.isSafe,
    reason: answerOf(report, owner),
    next: report.next,
    others: report.others,
    orphans: report.orphans,
    below: report.below,
  };
  const lists: [string, Row[]][] = [
    [
      'unreadable',
      report.unreadable.map((one) => ({
        id: one.id,
        reason: short(one.reason),
        next: nextCommands.doctor(one.id, one.option),
      })),
    ],
    ['jobs', [...report.jobs].sort((a, b) => Number(isFaulty(b)) - Number(isFaulty(a))).map(jobRow)],
    ['timers', report.timers.map(timerRow)],
    ['uncollected', report.uncollected.map((view) => uncollectedRow(view, root.option))],
  ];
  return { ...head, ...fitted(lists, idleBytes - JSON.stringify(head).length - 400), uncollected_more: report.isMore };
}

/** The lists in their order, each as far as there is room, and how many of each were left out. */
function fitted(lists: readonly [string, Row[]][], room: number): Row {
  const shown: Row = {};
  const omitted: Record<string, number> = {};
  let left = room;
  for (const [name, rows] of lists) {
    const taken: Row[] = [];
    for (const row of rows) {
      left -= Buffer.byteLength(JSON.stringify(row)) + 1;
      if (left < 0) break;
      taken.push(row);
    }
    shown[name] = taken;
    omitted[name] = rows.length - taken.length;
  }
  return { ...shown, omitted };
}

function jobRow({ view, owner, deliveries, trouble, backstop, missing, late, next, mend }: JudgedJob): Row {
  return {
    ...whoIs(view, owner),
    missing,
    ...deliveryRow(deliveries),
    backstop: backstop && { by: backstop.by, pid: backstop.pid, id: backstop.id, left_ms: backstop.leftMs },
    attention: trouble && { cause: trouble.cause, reason: short(trouble.reason) },
    late,
    next,
    mend,
  };
}

function timerRow({ view, owner, deliveries, isExtra, isFault, isDelivered, next }: JudgedTimer): Row {
  return {
    ...whoIs(view, owner),
    due_at: view.spec?.timer?.due_at ?? null,
    due_in_ms: Math.max(0, dueOf(view) - nowMs()),
    delivered: isDelivered,
    extra: isExtra,
    fault: isFault,
    ...deliveryRow(deliveries),
    next,
  };
}

function whoIs(view: View, owner: string | null): Row {
  const { spec, state } = view;
  return {
    id: view.id,
    owner: owner === null ? null : short(owner),
    kind: spec?.kind ?? null,
    label: spec?.label ? short(spec.label) : null,
    state: state.state,
    health: state.health,
  };
}

/** `delivery`: who would be woken; `not_counted`: who only says so, and why it does not count. Of each the first few. */
function deliveryRow({ waiters, idle, notifier, notifierFault, unread, cut, closed }: Deliveries): Row {
  const not = idle
    .slice(0, 5)
    .map((one) => ({ by: one.kind, pid: one.identity.pid, why: one.fault, reason: faultOf(one) }));
  return {
    delivery: [...waiters.slice(0, 5).map(waiterRow), ...(notifier ? [{ by: 'notifier', pid: notifier.pid }] : [])],
    not_counted: [
      ...not,
      ...(notifierFault === null ? [] : [{ by: 'notifier', pid: null, why: 'notifier', reason: notifierFault }]),
      ...(unread === null ? [] : [{ by: null, pid: null, why: 'unread', reason: short(unread) }]),
      ...(closed === null
        ? []
        : [{ by: null, pid: null, why: 'closed', reason: `waits cannot be recorded here (${closed})` }]),
      ...(cut === 0 ? [] : [{ by: null, pid: null, why: 'cut', reason: `${cut} more files were not read` }]),
    ],
  };
}

function waiterRow({ kind, identity, ids, mode, until, since, leftMs, endsAt, isOrphan }: Waiter): Row {
  return {
    by: kind,
    pid: identity.pid,
    jobs: ids.length,
    mode,
    until: until.slice(0, 5).map(short),
    since,
    ends_at: endsAt,
    left_ms: leftMs,
    orphan: isOrphan,
  };
}

function uncollectedRow({ id, state }: View, option: readonly string[]): Row {
  return { id, state: state.state, ended_at: state.ended_at, next: nextCommands.result(id, option) };
}

function short(text: string): string {
  return excerpt(plainText(text), 200);
}
