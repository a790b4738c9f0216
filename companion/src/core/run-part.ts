// What a `run` job executes, and what is to be told about it while it runs. Fields that an older release did not know may be absent.

/** `argv` is what the user gave; `program` is the file that is started for it. */
export interface RunPart {
  argv: string[];
  program: string;
  success_exit: number;
  keep_children: boolean;
  /** Each must be new or changed at the end. */
  success_files?: FileBaseline[];
  /** Told at the end; a change of one is progress. Absolute. */
  result_paths?: string[];
  /** The same paths as they were at launch. */
  result_baselines?: FileBaseline[];
  /** The command's own log; its tail is told on failure. Absolute. */
  log?: string | null;
  /** Crossing it is a cause for attention, never for a stop. */
  expect_ms?: number | null;
  checkpoint_ms?: number;
  /** With `--checkpoint-every auto`: the interval while nothing changes, and from 90 % on. */
  checkpoint_fast_ms?: number;
  sample_ms?: number;
  /** One line for /bin/sh; reads only. */
  probe?: string | null;
  probe_ms?: number;
  /** The launcher's own status command (one line for /bin/sh) and the identity of the task it must name. */
  status_cmd?: string | null;
  identity?: string | null;
}

/** A path (absolute) as it was at launch; null when there was nothing. */
export interface FileBaseline {
  path: string;
  before: { size: number; modified_ms: number; inode: number } | null;
}

/** The same path at the end. */
export interface ResultNote {
  path: string;
  /** A success file. */
  required: boolean;
  exists: boolean;
  /** It was there at launch. */
  existed: boolean;
  /** It is there, and new or changed since the launch. */
  changed: boolean;
  kind: 'file' | 'folder' | 'other' | null;
  /** Of a file, in bytes. */
  size: number | null;
  mtime: string | null;
  /** Where the last name of the path is a link: what it leads to. */
  link_to: string | null;
  /** The system's word when it could not be looked at. */
  trouble: string | null;
}
