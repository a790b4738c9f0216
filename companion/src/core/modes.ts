// The modes of staff as data: who the agent is, what it must not do, in which form it answers, and what it may do by default. The
// words around the task are put together in jobs/brief.ts.
import { claimsForm } from './claims.ts';
import type { Profile } from './staff.ts';

export interface Mode {
  id: ModeId;
  /** For help. */
  summary: string;
  /** First sentence of the brief. */
  role: string;
  /** What holds for this mode beside what holds for every unattended agent. */
  rules: readonly string[];
  /** What the final message must hold. */
  form: readonly string[];
  /** Default profile. */
  profile: Profile;
}

export type ModeId = 'staffer' | 'research' | 'review' | 'implement' | 'ask';

const readOnly =
  'Change nothing: no file, no commit, no setting, nothing on other machines. Reading and searching are what you are here for.';
const evidence = 'Give the place of every claim: path and line, command and its output, or address.';

export const modes: Readonly<Record<ModeId, Mode>> = {
  staffer: {
    id: 'staffer',
    summary: 'hand a task to an agent CLI as a job',
    role: 'You carry out a task for the caller on your own.',
    rules: [
      'Do what the task asks, no more. Leave what was changed before you came as it is.',
      'Commit or push only if the task asks for it.',
    ],
    form: ['What you did and found, what you changed (paths), how you checked it, and what is left open.'],
    profile: 'standard',
  },
  research: {
    id: 'research',
    summary: 'have a question looked into and answered with evidence, as a job',
    role: 'You look into a question and answer it with evidence.',
    rules: [readOnly, evidence, 'Keep what you saw apart from what you conclude, and say how sure you are.'],
    form: ['The answer first, in a few sentences; then the evidence for it; then what you could not find out.'],
    profile: 'restricted',
  },
  review: {
    id: 'review',
    summary: 'have changes reviewed by an agent CLI, as a job',
    role: 'You review changes that somebody else made.',
    rules: [
      readOnly,
      evidence,
      'Look for what breaks: wrong results, lost data, security holes, races, missing cases, tests that cannot fail. Matters of taste come last or not at all.',
      'Report only what you have checked in the code. Say when you looked at something and found nothing.',
    ],
    form: [
      'The verdict first, in one sentence; then the findings, the worst first, each with severity, path and line, what happens, and how to mend it; then what you did not look at.',
    ],
    profile: 'restricted',
  },
  implement: {
    id: 'implement',
    summary: 'have a change made in this worktree by an agent CLI, as a job',
    role: 'You make a change in a code base on your own.',
    rules: [
      'Keep to the habits of the code base, and to the task: no side trips.',
      'Leave what was changed before you came as it is, unless the task is about it.',
      'Prove the change: run the tests or checks that belong to it, and say which you ran and how they ended. Never weaken a test to make it pass.',
      'Commit only if the task asks for it; never push.',
    ],
    form: [
      'What you changed and why (paths), which checks you ran with their results, and what is left open.',
      claimsForm,
    ],
    profile: 'standard',
  },
  ask: {
    id: 'ask',
    summary: 'ask an agent CLI and print its answer (a recorded job)',
    role: 'You answer a question.',
    rules: [readOnly],
    form: ['The answer itself, as short as the question allows.'],
    profile: 'restricted',
  },
};

export const modeIds = Object.keys(modes) as ModeId[];

export function findMode(id: string): Mode | undefined {
  return Object.hasOwn(modes, id) ? modes[id as ModeId] : undefined;
}

/** May a job with this profile change the workspace? */
export function isWriter(profile: Profile): boolean {
  return profile !== 'restricted';
}

/** Is the job there to read only: by its profile, or by its role whatever the profile lets it do? */
export function isReader(mode: string, profile: Profile): boolean {
  return !isWriter(profile) || findMode(mode)?.profile === 'restricted';
}
