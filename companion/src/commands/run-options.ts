// The options of `run` (contract 4). What they come to is run-part.ts; what is told of them is docs/long-runs.md.
import { limits } from '../core/limits.ts';
import type { OptionTable } from '../core/option-table.ts';
import { launchOptions, milestoneOption, onStallOption } from './options.ts';

export const runOptions = {
  timeout: {
    kind: 'duration',
    value: 'D',
    range: limits.runTimeout,
    help: 'hard limit, counted from launch, with --max-live from its turn (default 24h, at most 30d)',
  },
  deadline: { kind: 'duration', value: 'D', range: limits.runTimeout, help: 'the same as --timeout' },
  'kill-after': {
    kind: 'duration',
    value: 'D',
    range: limits.runKillGrace,
    help: 'time between TERM and KILL (default 30s)',
  },
  cwd: { kind: 'text', value: 'DIR', help: 'folder to run in (default: here)' },
  shell: { kind: 'flag', help: 'give the one word after -- to /bin/sh -c' },
  pipefail: { kind: 'flag', help: 'with --shell: a pipe fails when any of its commands does' },
  'success-exit': {
    kind: 'count',
    value: 'N',
    range: { default: 0, min: 0, max: 255 },
    help: 'the exit code that means success (default 0)',
  },
  'success-file': {
    kind: 'list',
    value: 'PATH',
    help: 'success only when this file is new or changed at the end; may be repeated',
  },
  result: { kind: 'list', value: 'PATH', help: 'file or folder to tell of at the end; may be repeated' },
  log: { kind: 'text', value: 'PATH', help: "the command's own log; its last 50 lines are told on failure" },
  expect: { kind: 'duration', value: 'D', range: limits.expect, help: 'expected duration; later asks for attention' },
  'checkpoint-every': {
    kind: 'text',
    value: 'D',
    help: 'judge its progress at this interval (default 1h); a hang is told after about two, so for a night take 10m to 30m or auto; auto or auto:D: every 5m (D), five times as often while nothing changes and from 90%',
  },
  'sample-every': {
    kind: 'duration',
    value: 'D',
    range: limits.sample,
    help: 'look at its CPU, output and result paths this often (default 60s, at most the interval above)',
  },
  probe: {
    kind: 'text',
    value: 'LINE',
    help: 'read-only shell line that prints its progress as one JSON object: completed, total, phase, status, eta_seconds, message (all optional, no other names)',
  },
  'probe-timeout': { kind: 'duration', value: 'D', range: limits.probe, help: 'bound of one probe (default 30s)' },
  'first-output': {
    kind: 'duration',
    value: 'D',
    range: limits.optInLimit,
    help: 'end it when nothing was printed by then',
  },
  'stall-after': {
    kind: 'duration',
    value: 'D',
    range: limits.optInLimit,
    help: 'end it when nothing happened for that long: no output, no CPU, no change of a result path',
  },
  ...onStallOption,
  'status-cmd': {
    kind: 'text',
    value: 'LINE',
    help: 'for a launcher that detaches: shell line that prints {identity, status, exit_code}; asked once at the end',
  },
  identity: { kind: 'text', value: 'TEXT', help: 'the task that --status-cmd must name' },
  'max-output': {
    kind: 'size',
    value: 'SIZE',
    range: limits.maxOutput,
    help: 'cap of each output file on disk (default 64M)',
  },
  'keep-children': { kind: 'flag', help: 'leave processes alone that the command left behind' },
  ...milestoneOption,
  ...launchOptions,
} as const satisfies OptionTable;
