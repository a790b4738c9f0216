// Sizes as the command line takes them: whole bytes or `64M`, `1G`, `512K` (powers of 1024).
import { usageError } from './errors.ts';
import type { Range } from './limits.ts';

const units: Record<string, number> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

export function parseSize(text: string, option: string, range: Range): number {
  const match = /^(\d+)([KMG]?)(?:i?B)?$/.exec(text);
  const value = match ? Number(match[1]) * (units[match[2] ?? ''] ?? 1) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < range.min || value > range.max) {
    throw usageError(
      `cannot take ${option} ${JSON.stringify(text)}: allowed are ${formatSize(range.min)} to ${formatSize(range.max)}, written like 64M`,
    );
  }
  return value;
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
