/**
 * Records made by hand, for tests that need a job in a certain condition without running one: a sound spec and state with
 * whatever a test changes in them, and the folder they stand in.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JobState, Spec } from '../../companion/src/core/job.ts';
import { ownIdentity } from '../../companion/src/platform/identity.ts';
import { type JobPaths, jobPaths } from '../../companion/src/store/layout.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';

export const jobId = 'run-loyw3v28-09az03';
const createdAt = '2023-11-14T22:13:20.000Z';

export function makeSpec(change: Partial<Spec> = {}): Spec {
  return {
    schema: 1,
    id: jobId,
    kind: 'run',
    verb: 'run',
    created_at: createdAt,
    owner: null,
    label: null,
    once_key: null,
    engine: 'local',
    cwd: '/',
    state_option: [],
    deadline_ms: 86_400_000,
    deadline_mono_ms: 86_400_000,
    kill_grace_ms: 30_000,
    max_output_bytes: 67_108_864,
    first_output_ms: null,
    stall_ms: null,
    mark: '0123456789abcdef0123456789abcdef',
    launcher: ownIdentity(),
    environment: { digest: 'f59bce108d9b0', credentials: [] },
    lineage: null,
    run: { argv: ['true'], program: '/bin/true', success_exit: 0, keep_children: false },
    staff: null,
    mac: '0'.repeat(64),
    ...change,
  };
}

/** What `makeSpec` needs to be a staff job. */
export const staffChange: Partial<Spec> = {
  kind: 'staff',
  verb: 'staffer',
  run: null,
  staff: {
    mode: 'staffer',
    backend: 'codex',
    program: '/usr/bin/codex',
    model: null,
    profile: 'standard',
    prompt: 'the task',
    resume: null,
    custom: null,
  },
};

export function makeState(change: Partial<JobState> = {}): JobState {
  return {
    schema: 1,
    id: jobId,
    rev: 3,
    state: 'running',
    health: 'unknown',
    attention_kind: null,
    seq: 2,
    created_at: createdAt,
    started_at: createdAt,
    ended_at: null,
    duration_ms: null,
    exit_code: null,
    signal: null,
    signal_certain: null,
    error: null,
    warnings: [],
    conversation: null,
    reconciled: false,
    output: null,
    usage: null,
    ...change,
  };
}

/** A state folder in a plain workspace, as `ensureRoot` makes it, but without waiting for the disk. */
export function makeRoot(workspace: Workspace): string {
  const root = workspace.path('.job-state');
  for (const name of ['', 'active', 'jobs', 'once', 'slots']) mkdirSync(join(root, name), { mode: 0o700 });
  writeFileSync(join(root, '.gitignore'), '*\n');
  writeFileSync(join(root, 'meta.json'), '{"schema":1,"tool":"job-companion"}\n');
  return root;
}

/** A job folder with these files; a value that is no text is written as JSON, and one that is undefined not at all. */
export function makeJob(
  root: string,
  files: { [Name in keyof JobPaths]?: unknown },
  { id = jobId, isActive = false }: { id?: string; isActive?: boolean } = {},
): JobPaths {
  const paths = jobPaths(root, id);
  mkdirSync(paths.folder, { recursive: true });
  for (const [name, value] of Object.entries(files) as [keyof JobPaths, unknown][]) {
    if (value === undefined) continue;
    mkdirSync(dirname(paths[name]), { recursive: true });
    writeFileSync(paths[name], typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (isActive) writeFileSync(paths.marker, '');
  return paths;
}

/** A workspace outside git with a state folder in it. */
export function makePlace(t: Parameters<typeof makeWorkspace>[0]): { workspace: Workspace; root: string } {
  const workspace = makeWorkspace(t, { git: false });
  return { workspace, root: makeRoot(workspace) };
}
