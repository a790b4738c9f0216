// What a backend is: one agent CLI, seen as pure functions. A backend says how the CLI is called and folds its stream into a
// `Reading`; it never spawns, waits, kills, writes a file or judges success. The worker starts every child in the same way,
// and one function (verdict.ts) judges every `Reading` by contract 9.
//
// To fit: prompt by stdin or by argument (agy's text mode), ids given by us or reported by the CLI (copilot tells only at the
// end), text as deltas or whole, usage that runs on over resumes, failures told only on stderr, CLIs that write no stream.
import { byteLength } from '../core/excerpt.ts';
import type { CustomBackend, Profile } from '../core/job.ts';
import type { Reading } from './reading.ts';

export * from './reading.ts';

export interface StaffRequest {
  mode: string;
  /** The whole text for the agent: the task byte for byte, with what the mode says around it. */
  prompt: string;
  model: string | null;
  /** Of the CLI, when known: `1.2.3`. */
  version: string | null;
  profile: Profile;
  /** The conversation to go on with, or null for a new one. */
  resume: string | null;
  /** A fresh random UUID, for CLIs that take the id of a new conversation from us. */
  freshId: string;
  cwd: string;
  /** The job's hard limit in ms: a CLI with a response limit of its own gets this one. */
  deadlineMs: number;
  /** The state folder, so that a sandbox which can be told keeps it read-only. */
  stateRoot: string;
  /** Folders outside `cwd` that the agent must be able to write (the git folder of a linked worktree, the hand-back folder). Absolute. */
  writable: readonly string[];
  /** A private file that holds the prompt (only when `promptBy` is `file`). */
  promptFile: string;
  /** A private file that holds `StaffPlan.settings` when the CLI starts. Its name ends with `.toml`. */
  settingsFile: string;
  custom: CustomBackend | null;
}

export interface StaffPlan {
  /** Arguments after the program. */
  args: string[];
  /** How the prompt goes in: `stdin` writes `stdin` and closes; the others close stdin at once. */
  promptBy: 'stdin' | 'file' | 'argument';
  /** The text for stdin when `promptBy` is `stdin` (some CLIs want an envelope around the prompt). */
  stdin: string;
  environment: Record<string, string>;
  /** The id that this call gives to a new conversation (`freshId`, for CLIs that take it): known before they tell it. */
  conversationId: string | null;
  /** Text of `request.settingsFile`, for CLIs that take rules from a file only. */
  settings?: string;
  /** Variables that this call must not inherit, beside the host markers of every backend. */
  remove: readonly string[];
}

/** What a profile means for one CLI, as a row of `docs/BACKENDS.md` and of the spec. */
export interface ProfileTerms {
  /** What it adds to the command line or the environment, for people. */
  adds: string;
  /**
   * Does the CLI itself keep writes inside the workspace? Without it a `standard` job has the warning `no_sandbox`; null where
   * nobody can know (a program of the user's own).
   */
  sandbox: boolean | null;
}

/** How one can tell without a model call that somebody is signed in: any of these that exists (a file with something in it). */
export interface SignInSigns {
  /** Below the home folder. */
  files: readonly string[];
  /** Environment variables that carry a credential of this CLI. */
  variables: readonly string[];
}

/** Settings of the CLI that can widen a profile. An unreadable file is refused by the caller: it fails closed. */
export interface PolicyFile {
  /** Below the home folder, or with `inWorkspace` below the folder where the job runs and the root of its worktree. With `/` at its end: each .json file there. */
  file: string;
  inWorkspace?: boolean;
  /** Why this profile cannot be kept with these settings; null when it can. `version` is the CLI's, where it is known. */
  findFault(text: string, profile: Profile, version?: string | null): string | null;
}

export interface Ending {
  exitCode: number | null;
  signal: string | null;
  /** False when a reason of ours (limit, cancel, lingering) ended it: then its exit code says nothing. */
  byItself: boolean;
  /** The last 8 KiB of stderr. */
  stderrTail: string;
}

/** What was asked for, as far as the end can only be read with it. */
export interface Asked {
  /** The conversation to go on with, or null for a new one. */
  resume: string | null;
  /** The message of the failure with which the last job of that conversation ended; null when it did not. */
  earlierError: string | null;
}

export interface Backend {
  id: string;
  /** What a person calls it. */
  title: string;
  /** Program names, best first, searched on PATH. Empty for `custom`. */
  programs: readonly string[];
  /** Where the answer is: folded from the stream's lines, or the whole of stdout as it is. */
  answerFrom: 'stream' | 'stdout';
  /** Can a conversation be continued? */
  keepsConversation: boolean;
  /** Does it heed `StaffRequest.writable`? Without it a profile with a sandbox keeps the agent out of there. */
  takesFolders?: boolean;
  /** From another folder than the one where it began too? */
  resumesElsewhere: boolean;
  /** Null where the CLI cannot keep that profile; only `restricted` may be null. */
  profiles: Readonly<Record<Profile, ProfileTerms | null>>;
  /** The oldest version that is accepted, and the npm packages that carry the CLI (their package.json tells the version). */
  oldest: string | null;
  packages: readonly string[];
  /** How to install it, one line for people. */
  install: string;
  signIn: SignInSigns;
  policy?: PolicyFile;
  morePolicies?: readonly PolicyFile[];
  /** Variables by which this CLI marks what it runs itself: no child of ours, of whatever backend, inherits them. */
  hostMarkers: readonly string[];
  /** Which numbers of `usage` run on over a resumed conversation; the part of this job is told by subtraction. */
  runsOn: { tokens: boolean; cost: boolean };
  plan(request: StaffRequest): StaffPlan;
  /** Fold one line of stdout (without its newline) into the reading. `at` is the instant it was seen, ISO. */
  read(line: string, reading: Reading, at: string): void;
  /** Fold one line of stderr. Only for CLIs that tell something there and nowhere else. */
  readError?(line: string, reading: Reading, at: string): void;
  /** Facts that only the end shows: an exit code with a meaning, a failure told on stderr only. */
  close?(reading: Reading, ending: Ending, asked: Asked): void;
}

/** Why these arguments cannot be given to any program; null when they can. Linux: 128 KiB for one, its end included. */
export function findArgumentFault(args: readonly string[]): string | null {
  if (args.some((arg) => arg.includes('\0'))) return 'an argument holds a NUL character';
  const longest = Math.max(0, ...args.map(byteLength));
  return longest < 131_072 ? null : `an argument of ${longest} bytes is too long; allowed: 131071 bytes`;
}
