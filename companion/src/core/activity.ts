// What a run did in one interval, and what several of them amount to: working, waiting for descendants, or a dead wait. Pure.
import { formatDuration } from './duration.ts';
import { idleCpuShare } from './limits.ts';
import { formatSize } from './size.ts';

export interface Activity {
  spanMs: number;
  /** CPU that the tree used; null where that cannot be told. */
  cpuMs: number | null;
  hasOutput: boolean;
  outputBytes: number;
  hasLog: boolean;
  /** The most that were seen at once. */
  descendants: number;
  /** Named result paths that changed. */
  changed: readonly string[];
}

export interface Stillness {
  /** `unmeasured`: nothing was seen, but CPU cannot be told here. */
  kind: 'working' | 'waiting' | 'dead' | 'unmeasured';
  descendants: number;
  /** The figures, for people. */
  words: string;
}

export function stillnessOf(window: readonly Activity[]): Stillness {
  const spanMs = sum(window.map((one) => one.spanMs));
  const cpuMs = window.some((one) => one.cpuMs === null) ? null : sum(window.map((one) => one.cpuMs ?? 0));
  const hasOutput = window.some((one) => one.hasOutput);
  const hasLog = window.some((one) => one.hasLog);
  const descendants = Math.max(0, ...window.map((one) => one.descendants));
  const output = hasOutput ? `${formatSize(sum(window.map((one) => one.outputBytes)))} of output` : 'no output';
  const figures = [
    cpuWords(cpuMs, spanMs),
    output,
    ...(hasLog ? ['its log changed'] : []),
    countDescendants(descendants),
  ].join(', ');
  const facts = { descendants, words: figures };
  if (isBusy(cpuMs, spanMs) || hasOutput || hasLog) return { kind: 'working', ...facts };
  if (cpuMs === null) return { kind: 'unmeasured', ...facts };
  return { kind: descendants > 0 ? 'waiting' : 'dead', ...facts };
}

/** More CPU than what sleep costs. */
export function isBusy(cpuMs: number | null, spanMs: number): boolean {
  return cpuMs !== null && cpuMs > 0 && cpuMs >= spanMs * idleCpuShare;
}

export function countDescendants(count: number): string {
  return `${count === 0 ? 'no' : count} descendant${count === 1 ? '' : 's'}`;
}

function cpuWords(cpuMs: number | null, spanMs: number): string {
  if (cpuMs === null) return 'CPU not known';
  if (cpuMs === 0 || spanMs <= 0) return 'no CPU';
  const percent = (cpuMs / spanMs) * 100;
  return `${formatDuration(cpuMs)} of CPU (${percent < 10 ? percent.toFixed(1) : Math.round(percent)}%)`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((whole, one) => whole + one, 0);
}
