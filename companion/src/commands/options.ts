// Options that several commands share, said once.
import { limits } from '../core/limits.ts';
import type { OptionTable } from '../core/option-table.ts';

export const common = {
  'state-dir': {
    kind: 'text',
    value: 'DIR',
    help: 'state folder (default: .job-state of the worktree, or JOB_STATE_DIR)',
  },
  json: { kind: 'flag', help: 'print one JSON document' },
  help: { kind: 'flag', help: 'show this help' },
} as const satisfies OptionTable;

export const ownerOption = {
  owner: {
    kind: 'text',
    value: 'NAME',
    help: 'whose jobs; "latest" means the latest of this owner (default: JOB_OWNER)',
  },
} as const satisfies OptionTable;

export const launchOptions = {
  owner: { kind: 'text', value: 'NAME', help: 'who this job belongs to (default: JOB_OWNER)' },
  label: { kind: 'text', value: 'TEXT', help: 'a few words for people' },
  'once-key': { kind: 'text', value: 'KEY', help: 'the same key gives the same job, never a second execution' },
  wait: { kind: 'flag', help: 'wait for the end and print the result, as `wait` does' },
  notify: {
    kind: 'text',
    value: 'CMD',
    help: 'program (words, or a JSON array; no shell) that is told of the end and of each cause for attention; none for nobody',
  },
  'wait-timeout': {
    kind: 'duration',
    value: 'D',
    range: limits.waitTimeout,
    help: 'patience of --wait (default: until the end)',
  },
  'max-live': {
    kind: 'count',
    value: 'N',
    range: limits.maxLive,
    help: 'start it when fewer than N jobs of its owner (jobs without an owner are one pool) are at work; until then it is queued, in order; its hard limit counts from its turn, not from launch',
  },
  'id-only': { kind: 'flag', help: 'print the id and a newline, nothing else' },
  ...common,
} as const satisfies OptionTable;

export const onStallOption = {
  'on-stall': {
    kind: 'text',
    value: 'TEXT',
    help: 'what is to be done about a stall; repeated to whoever is told of one',
  },
} as const satisfies OptionTable;

export const milestoneOption = {
  milestone: {
    kind: 'text',
    value: 'ID',
    help: "it works for this milestone of the worktree's loop: told in the journal, and no GO while it lives or failed",
  },
} as const satisfies OptionTable;

export const staffOptions = {
  prompt: { kind: 'text', value: 'TEXT', help: 'the task; taken as it is, also when it begins with --' },
  'prompt-file': { kind: 'text', value: 'PATH', help: 'read the task from a file' },
  stdin: { kind: 'flag', help: 'read the task from standard input' },
  backend: {
    kind: 'text',
    value: 'NAME',
    help: 'which agent CLI (default: the one in your config, else the only one installed)',
  },
  model: { kind: 'text', value: 'NAME', help: 'model, in the words of the agent CLI' },
  profile: {
    kind: 'choice',
    value: 'P',
    choices: ['restricted', 'standard', 'unrestricted'],
    help: 'what the agent may do: restricted, standard or unrestricted',
  },
  timeout: {
    kind: 'duration',
    value: 'D',
    range: limits.staffTimeout,
    help: 'hard limit, counted from launch, with --max-live from its turn (default 60m, at most 120m)',
  },
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
    help: 'end it when nothing was printed for that long',
  },
  'quiet-after': {
    kind: 'duration',
    value: 'D',
    range: limits.quiet,
    help: 'ask for attention when nothing moves for that long (default 10m); ends nothing',
  },
  handback: {
    kind: 'text',
    value: 'DIR',
    help: 'folder outside the worktree in which the agent leaves ordered files (NN-name.md): each wakes a wait --until handback; none for none',
  },
  ...milestoneOption,
  ...onStallOption,
} as const satisfies OptionTable;

/** Two writers in one worktree (contract 4). */
export const writerOptions = {
  worktree: { kind: 'flag', help: 'work in a git worktree of its own, outside this one' },
  share: { kind: 'flag', help: 'accept another implement job in the same worktree' },
} as const satisfies OptionTable;
