// claude in the lab: a key that is none, a base URL, and one retry instead of ten. It needs no config file.
import type { LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'claude',
  program: 'claude',
  // A native program; its package asks for Node 22 and installs with 20 all the same.
  node: null,
  isStandIn: false,
  wire: 'messages',
  environment: ({ baseUrl }) => ({
    ANTHROPIC_API_KEY: 'dummy',
    ANTHROPIC_BASE_URL: baseUrl,
    CLAUDE_CODE_MAX_RETRIES: '1',
  }),
  configure() {},
  slowCases: [],
  resumesElsewhere: true,
  model: null,
};
