// How one delivery, one backstop and one waiter that does not count are told, for people.
import { formatAge, formatDuration } from '../core/duration.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Deliveries } from '../jobs/deliveries.ts';
import type { Backstop } from '../jobs/idle.ts';
import type { Waiter, WaiterFault } from '../jobs/waiters.ts';

const faultWords: Record<WaiterFault, string> = {
  dead: 'it was killed',
  stopped: 'it is stopped (SIGSTOP, Ctrl-Z?): nothing wakes it',
  unseen: 'it is in another pid namespace and cannot be seen from here',
  stranger: 'the process of that pid is no wait for this job',
  other_owner: 'it is of another owner',
  over: 'its patience is over',
};

export function faultOf({ fault, owner }: Waiter): string {
  if (fault === 'other_owner')
    return `of owner ${excerpt(plainText(owner ?? '-').replace(/\s+/g, ' '), 60)}: it wakes that one`;
  return fault === null ? 'it counts' : faultWords[fault];
}

/** `wait 4711 (--any of 2 jobs)`. */
export function waiterWords({ kind, identity, ids, mode }: Waiter): string {
  const name = kind === 'foreground' ? `watch --foreground ${identity.pid}` : `wait ${identity.pid}`;
  if (ids.length < 2) return name;
  const late = mode === 'all' ? ': wakes when the last has ended' : '';
  return `${name} (--${mode} of ${ids.length} jobs${late})`;
}

export function deliveryWords(deliveries: Deliveries): string {
  const { waiters, notifier } = deliveries;
  const held = waiters.map((one) => `${waiterWords(one)}${one.leftMs === null ? '' : `, ${left(one.leftMs)} left`}`);
  if (notifier) held.push(`notifier, started by worker ${notifier.pid}`);
  return held.length > 0 ? few(held) : ['none', ...whyNone(deliveries)].join('; ');
}

function whyNone({ idle, notifierFault, unread, cut, closed }: Deliveries): string[] {
  const why = idle.map((one) => `${waiterWords(one)}: ${faultOf(one)}`);
  if (notifierFault !== null) why.push(`notifier: ${notifierFault}`);
  if (unread !== null) why.push(`its waiters cannot be read: ${excerpt(plainText(unread), 200)}`);
  if (cut > 0) why.unshift(`${cut} more files of waiters were not read`);
  if (closed !== null) why.unshift(`waits cannot be recorded here (${closed})`);
  return why.length > 0 ? [few(why)] : [];
}

/** More than three are counted. */
function few(texts: readonly string[]): string {
  const more = texts.length - 3;
  return more > 0 ? `${texts.slice(0, 3).join('; ')}; and ${more} more` : texts.join('; ');
}

export function backstopWords(backstop: Backstop | null): string {
  if (!backstop) return 'none';
  return backstop.by === 'wait'
    ? `wait ${backstop.pid} gives up in ${left(backstop.leftMs)}`
    : `${backstop.id}, due in ${left(backstop.leftMs)}`;
}

/** Whole units: it is read, not counted. */
function left(ms: number): string {
  return ms < 120_000 ? formatDuration(Math.max(1000, Math.floor(ms / 1000) * 1000)) : formatAge(ms);
}
