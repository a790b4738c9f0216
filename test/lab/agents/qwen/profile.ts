// qwen in the lab: the OpenAI wire by its environment, and settings of its home that choose it and keep it quiet.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'qwen',
  program: 'qwen',
  node: 24,
  isStandIn: false,
  wire: 'chat',
  environment: ({ baseUrl }) => ({
    OPENAI_API_KEY: 'dummy',
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    OPENAI_MODEL: 'fake-model',
  }),
  configure({ home }) {
    mkdirSync(join(home, '.qwen'), { recursive: true });
    writeFileSync(join(home, '.qwen/settings.json'), JSON.stringify(settings));
  },
  // 429: ten waits of one minute, later of five. 500: 95 s.
  slowCases: ['e429', 'e500'],
  resumesElsewhere: false,
  model: null,
};

const settings = {
  $version: 3,
  security: { auth: { selectedType: 'openai' } },
  model: { name: 'fake-model' },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};
