// A staff request for tests of a backend's `plan`: every field set, each to be overridden.
import type { StaffRequest } from '../../companion/src/backends/backend.ts';

export const freshId = '11111111-2222-4333-8444-555555555555';

export function makeRequest(changes: Partial<StaffRequest> = {}): StaffRequest {
  return {
    mode: 'staffer',
    prompt: 'Do it.',
    model: null,
    version: null,
    profile: 'standard',
    resume: null,
    freshId,
    cwd: '/w',
    deadlineMs: 3_600_000,
    stateRoot: '/w/.job-state',
    writable: [],
    promptFile: '/w/.job-state/jobs/x/prompt.txt',
    settingsFile: '/w/.job-state/jobs/x/agent-settings.toml',
    custom: null,
    ...changes,
  };
}
