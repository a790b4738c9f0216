// The options that every watch has; those of its kind come beside them.
import { limits } from '../core/limits.ts';
import type { OptionTable } from '../core/option-table.ts';
import { launchOptions } from './options.ts';

export function watchOptions(isRemote: boolean) {
  const every = isRemote ? limits.watchEveryRemote : limits.watchEvery;
  return {
    for: {
      kind: 'duration',
      value: 'D',
      range: limits.watchFor,
      help: 'how long it watches at most, counted from launch (1s to 365d); required, because nothing is watched for ever',
    },
    every: {
      kind: 'duration',
      value: 'D',
      range: every,
      help: `time between two looks (default 60s, at least ${every.min / 1000}s)`,
    },
    'attempt-timeout': {
      kind: 'duration',
      value: 'D',
      range: limits.watchAttempt,
      help: 'bound of one look as a whole (default 30s)',
    },
    tolerate: {
      kind: 'count',
      value: 'N',
      range: limits.watchTolerate,
      help: 'so many looks in a row may fail (default: as many as --for has time for)',
    },
    once: { kind: 'flag', help: 'look once, now; no job: 0 it holds, 2 not yet, 3 it failed or cannot be looked at' },
    repeat: { kind: 'flag', help: 'tell every change until --for is over, instead of ending at the first verdict' },
    foreground: { kind: 'flag', help: 'stay, print one JSON line for each change, exit with the verdict' },
    ...launchOptions,
  } as const satisfies OptionTable;
}
