// What people and programs did on a pull request: reviews (an approval, a request for changes, inline comments) and comments. A first look is the
// baseline; after that each id is told once.
import { ghActivity, ghActivitySlackMs, ghNamedActivity, ghSeenIds } from '../../core/limits.ts';
import type { Cursor } from '../watch.ts';
import { type Fields, fieldsOf, instantOf, linkOf, rowsOf, textOf } from './json.ts';

export interface Activity {
  /** `review:<id>` or `comment:<id>`. */
  id: string;
  kind: 'review' | 'comment';
  actor: string;
  /** null: gh did not say. */
  is_bot: boolean | null;
  /** `approved`, `changes_requested`, `commented`, `dismissed`; null for a comment. */
  state: string | null;
  at: number | null;
  url: string | null;
}

/** The newest of each. A review that its author has not sent yet is nobody's news. */
export function readActivity(row: Fields): Activity[] {
  const reviews = (rowsOf(row.reviews) ?? [])
    .filter(({ state }) => textOf(state).toUpperCase() !== 'PENDING')
    .flatMap((found) => readOne('review', found, found.submittedAt));
  const comments = (rowsOf(row.comments) ?? []).flatMap((found) => readOne('comment', found, found.createdAt));
  return [...newest(reviews, ghActivity), ...newest(comments, ghActivity)];
}

function readOne(kind: Activity['kind'], row: Fields, at: unknown): Activity[] {
  const id = textOf(row.id);
  if (id === '') return [];
  const author = fieldsOf(row.author) ?? {};
  const login = textOf(author.login, 60);
  const isBot = typeof author.is_bot === 'boolean' ? author.is_bot : login.endsWith('[bot]') || null;
  return [
    {
      id: `${kind}:${id}`,
      kind,
      actor: login || 'ghost',
      is_bot: isBot,
      state: kind === 'review' ? textOf(row.state, 40).toLowerCase() || null : null,
      at: instantOf(at),
      url: linkOf(row.url) || null,
    },
  ];
}

function newest(found: Activity[], count: number): Activity[] {
  return found.sort((a, b) => (a.at ?? 0) - (b.at ?? 0)).slice(-count);
}

/** What a watch remembers. `floor`: what is older and unknown is no news, but came back because something newer was deleted. */
export interface Seen {
  ids: string[];
  floor: number | null;
  /** How often there was something new. */
  report: number;
}

/** From a cursor that stands on disk; undefined at the first look. */
export function readSeen(cursor: Cursor | null): Seen | undefined {
  const { ids, floor, report } = fieldsOf(cursor?.seen) ?? {};
  if (!Array.isArray(ids) || typeof report !== 'number') return undefined;
  return { ids: ids.filter((id) => typeof id === 'string'), floor: typeof floor === 'number' ? floor : null, report };
}

/** What is new (`isWanted` by the caller), and what to remember after it. */
export function compareActivity(
  found: readonly Activity[],
  seen: Seen | undefined,
  isWanted: (one: Activity) => boolean,
): { fresh: Activity[]; seen: Seen } {
  const ids = found.map(({ id }) => id);
  if (!seen) {
    const last = Math.max(...found.map(({ at }) => at ?? 0));
    const floor = last > 0 ? last - ghActivitySlackMs : null;
    return { fresh: [], seen: { ids: ids.slice(-ghSeenIds), floor, report: 0 } };
  }
  const known = new Set(seen.ids);
  const unknown = found.filter(({ id }) => !known.has(id));
  const fresh = unknown.filter((one) => isWanted(one) && (one.at ?? seen.floor ?? 0) >= (seen.floor ?? 0));
  const kept = [...seen.ids.filter((id) => !ids.includes(id)), ...ids];
  const report = seen.report + (fresh.length > 0 ? 1 : 0);
  return { fresh, seen: { ids: kept.slice(-ghSeenIds), floor: seen.floor, report } };
}

/** For programs: at most ten named, the rest counted. */
export function factsOfActivity(fresh: readonly Activity[]): Record<string, unknown> {
  const named = fresh.slice(-ghNamedActivity);
  return {
    ids: named.map(({ id }) => id),
    activity: named.map((one) => ({ ...one, at: one.at === null ? null : new Date(one.at).toISOString() })),
    more: fresh.length - named.length,
  };
}

/** For people: `3 new: approved by ann, comment by bob, ...`. */
export function wordsOfActivity(fresh: readonly Activity[]): string {
  const one = ({ kind, state, actor }: Activity): string => `${state ?? kind} by ${actor}`.replaceAll('_', ' ');
  return `${fresh.length} new: ${fresh.slice(-ghNamedActivity).map(one).join(', ')}`;
}
