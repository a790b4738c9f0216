// Reading foreign JSON: what is not of the expected form is nothing, and every text is plain and bounded before anybody keeps it.
import { excerpt, plainText } from '../../core/excerpt.ts';

export type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Every object of a list; undefined when it is no list. */
export function rowsOf(value: unknown): Fields[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((row: unknown): Fields[] => [fieldsOf(row) ?? []].flat());
}

/** One line, at most `limit` bytes; empty when it is no text. */
export function textOf(value: unknown, limit = 120): string {
  return typeof value === 'string' ? excerpt(plainText(value).replace(/\s+/g, ' ').trim(), limit) : '';
}

/** Links are compared and followed, so one that is too long is none. */
export function linkOf(value: unknown): string {
  return typeof value === 'string' && /^https?:\/\/[!-~]{1,500}$/.test(value) ? value : '';
}

/** A commit's whole name. */
export function shaOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value) ? value : undefined;
}

/** An instant in ms; null when there is none (`0001-01-01T00:00:00Z` is how Go writes none). */
export function instantOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
