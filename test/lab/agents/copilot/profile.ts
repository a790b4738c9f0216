// GitHub Copilot CLI in the lab: its own "bring your own key" mode, offline, so that it asks no other server than the model's.
import type { LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'copilot',
  program: 'copilot',
  node: null,
  isStandIn: false,
  wire: 'chat',
  environment: ({ baseUrl }) => ({
    COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'fake-model',
    COPILOT_OFFLINE: 'true',
  }),
  configure() {},
  // 15 s of retries.
  slowCases: [],
  resumesElsewhere: true,
  model: null,
};
