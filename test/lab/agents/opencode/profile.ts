// opencode in the lab: a provider of the user's config that is the lab's model, and nothing that it would fetch.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'opencode',
  program: 'opencode',
  node: null,
  isStandIn: false,
  wire: 'chat',
  environment: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' }),
  configure({ home, baseUrl }) {
    mkdirSync(join(home, '.config/opencode'), { recursive: true });
    writeFileSync(join(home, '.config/opencode/opencode.json'), JSON.stringify(makeConfig(`${baseUrl}/v1`)));
  },
  // Retried in silence, for 79 s and longer.
  slowCases: ['e500', 'cut'],
  resumesElsewhere: false,
  model: null,
};

function makeConfig(baseURL: string): object {
  const model = { name: 'Lab model', tool_call: true, limit: { context: 400_000, output: 8000 } };
  const options = { baseURL, apiKey: 'dummy' };
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'lab/lab-model',
    small_model: 'lab/lab-model',
    provider: { lab: { npm: '@ai-sdk/openai-compatible', name: 'Lab', options, models: { 'lab-model': model } } },
  };
}
