/**
 * Samples and what is made of them. Ours and the reference are measured in turn (A B A B ...), so that whatever else the
 * machine does falls on both; a ratio is that of the two medians.
 */
import { spawnSync } from 'node:child_process';

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Measure several things in turn, `count` rounds after `warm` unrecorded ones. Each function gives one number or undefined. */
export async function interleave(count, measures, warm = 1) {
  const samples = Object.fromEntries(Object.keys(measures).map((name) => [name, []]));
  for (let round = -warm; round < count; round += 1) {
    for (const [name, measure] of Object.entries(measures)) {
      const value = await measure();
      if (round >= 0 && value !== undefined) samples[name].push(value);
    }
  }
  return samples;
}

export function quantile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.ceil(at)] - sorted[low]) * (at - low);
}

export function median(samples) {
  return quantile(samples, 0.5);
}

export async function until(condition, what, limitMs = 30_000, pauseMs = 5) {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`gave up after ${limitMs / 1000} s: ${what}`);
    await sleep(pauseMs);
  }
}

/** Shell words that print nanoseconds since 1970 as a program's last act; undefined where nothing here can. */
export const stamp = ['date +%s%N', `perl -MTime::HiRes=time -e 'printf "%d\\n", time*1e9'`].find((words) => {
  const { stdout } = spawnSync('/bin/sh', ['-c', words], { encoding: 'utf8' });
  return /^\d{19}\n$/.test(stdout ?? '');
});

/** The wall clock in ms with fractions: `Date.now` has none, so the moment of its next step is caught first. */
export function makeWallClock() {
  const before = Date.now();
  while (Date.now() === before);
  const offset = Date.now() - Number(process.hrtime.bigint()) / 1e6;
  return () => Number(process.hrtime.bigint()) / 1e6 + offset;
}

export const stampMs = (text) => Number(BigInt(text.trim()) / 1000n) / 1000;
