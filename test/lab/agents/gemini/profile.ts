// gemini in the lab: an API key that is none, a base URL, and settings of its home that name the model and how often it tries.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'gemini',
  program: 'gemini',
  node: null,
  isStandIn: false,
  wire: 'gemini',
  environment: ({ baseUrl }) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: baseUrl }),
  configure({ home }) {
    mkdirSync(join(home, '.gemini'), { recursive: true });
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  },
  slowCases: [],
  resumesElsewhere: false,
  model: null,
};

// A model by name: with `auto` gemini asks the model first which one fits. Two attempts instead of ten.
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  model: { name: 'gemini-2.5-flash' },
  general: { enableAutoUpdate: false, maxAttempts: 2 },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};
