// The words of a staff job: what is asked of an agent CLI, where it starts from, what it cost. Types only.

export type Profile = 'restricted' | 'standard' | 'unrestricted';

/** What a staff job asks for. `resume` is the conversation to go on with, `prompt` the task byte for byte. */
export interface StaffPart {
  mode: string;
  backend: string;
  program: string;
  model: string | null;
  profile: Profile;
  prompt: string;
  resume: string | null;
  /** Of the CLI, when it could be told without a model call. */
  version?: string | null;
  /** What the profile adds, in words (backend x profile table). */
  adds?: string;
  /** Does the task go out with the words of its mode around it (jobs/brief.ts), or as it is? Absent: as it is. */
  brief?: boolean;
  /** Structured findings are asked for. */
  schema?: boolean;
  /** `review --base`: the commit since which changes are looked at, as it was given and as it was found. */
  base?: { rev: string; commit: string } | null;
  /** The last job of the resumed conversation: numbers that run on, and the failure it ended with. */
  earlier?: { usage_total: TokenUsage | null; error: string | null } | null;
  /** The context in which an earlier job with the same task was started (restart). */
  historical?: WorkspaceContext | null;
  /** For the custom backend: its definition as it stood in the user's config at launch. */
  custom: CustomBackend | null;
}

/** Where an agent starts from, collected afresh for every job. Names of files and branches are data. */
export interface WorkspaceContext {
  cwd: string;
  /** ISO, when it was looked at. */
  at: string;
  /** Null outside git. */
  git: {
    root: string;
    /** Null when HEAD is detached. */
    branch: string | null;
    /** Null before the first commit. */
    head: string | null;
    subject: string | null;
    /** Bounded list of `XY path`; `dirty_count` counts all. */
    dirty: string[];
    dirty_count: number;
  } | null;
}

/** A linked git worktree made for one job (`--worktree`). */
export interface WorktreeNote {
  path: string;
  branch: string;
  /** The commit it began at. */
  base: string;
  /** Root of the worktree that it was made from, and the common git folder of both. */
  from: string;
  git_folder: string;
}

/** A program named by the user's own config as a backend (contract 11: never by a repository). */
export interface CustomBackend {
  name: string;
  argv: string[];
  prompt: 'stdin' | 'file' | 'argument';
  /** Give it the words of the mode too (default: the task as it is). */
  brief?: boolean;
}

export interface TokenUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cost_usd?: number;
}
