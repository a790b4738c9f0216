// How far something is, as a bar of text: `[####------]  40%`. Plain ASCII, for every terminal and every log.

/** Null when it cannot be told: no total, or numbers that say nothing. */
export function renderBar(completed: number | null, total: number | null, width = 10): string | null {
  const share = shareOf(completed, total);
  if (share === null) return null;
  // Full only when all of it is done, empty only when nothing is.
  const filled = share >= 1 ? width : Math.min(width - 1, Math.max(share > 0 ? 1 : 0, Math.round(share * width)));
  const percent = share >= 1 ? 100 : Math.min(99, Math.floor(share * 100));
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${String(percent).padStart(3)}%`;
}

function shareOf(completed: number | null, total: number | null): number | null {
  if (completed === null || total === null || !(total > 0) || !Number.isFinite(completed)) return null;
  return Math.min(1, Math.max(0, completed / total));
}
