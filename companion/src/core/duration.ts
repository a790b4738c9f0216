// Durations as the command line takes them: `90s`, `10m`, `1h30m`, `250ms`, `1.5h`. The package `ms` reads each part; the
// grammar around it is ours, because `ms` alone takes "10", "-5s" and "2y" and not "1h30m".
import ms from 'ms';
import { usageError } from './errors.ts';
import type { Range } from './limits.ts';

const whole = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Text to whole ms within the range; else a usage error that names the option, what came and what is allowed. */
export function parseDuration(text: string, option: string, range: Range): number {
  const upTo = range.max >= Number.MAX_SAFE_INTEGER ? 'on' : `to ${formatDuration(range.max)}`;
  const allowed = `allowed: ${formatDuration(range.min)} ${upTo}, written like 90s, 10m, 1h30m or 250ms`;
  if (!whole.test(text)) throw usageError(`cannot read ${option}: ${JSON.stringify(text)} is no duration; ${allowed}`);
  let total = 0;
  for (const [piece] of text.matchAll(part)) total += ms(piece as ms.StringValue);
  total = Math.round(total);
  if (!(total >= range.min && total <= range.max)) {
    throw usageError(`cannot take ${option} ${text}: it is out of range; ${allowed}`);
  }
  return total;
}

/** ms as people write it: `250ms`, `2.1s`, `10m`, `1h30m`. */
export function formatDuration(value: number): string {
  if (value < 1000) return `${Math.round(value)}ms`;
  if (value < 60_000) return `${trim(value / 1000)}s`;
  const units: [string, number][] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ];
  let rest = Math.round(value / 1000) * 1000;
  let text = '';
  for (const [unit, size] of units) {
    // Days only where hours become unreadable: 24h, 36h, 3d.
    if (unit === 'd' && rest < 2 * size) continue;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}

/** ms in its largest unit only, for "how long ago": `40s`, `12m`, `3h`, `2d`. */
export function formatAge(value: number): string {
  const seconds = Math.max(0, Math.floor(value / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  // As above: days only where hours become unreadable.
  return seconds < 2 * 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

function trim(value: number): string {
  return String(Math.floor(value * 10) / 10);
}
