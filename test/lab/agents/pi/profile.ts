// pi in the lab: a provider of the user's models.json that is the lab's model, and the model that is taken without `--model`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'pi',
  program: 'pi',
  node: 24,
  isStandIn: false,
  wire: 'chat',
  environment: () => ({}),
  configure({ home, baseUrl }) {
    const folder = join(home, '.pi/agent');
    const models = [{ id: 'lab-model', name: 'Lab model', contextWindow: 400_000, maxTokens: 8000 }];
    const lab = { baseUrl: `${baseUrl}/v1`, api: 'openai-completions', apiKey: 'dummy', models };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { lab } }));
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  },
  slowCases: [],
  resumesElsewhere: false,
  model: null,
};

const settings = { defaultProvider: 'lab', defaultModel: 'lab-model' };
