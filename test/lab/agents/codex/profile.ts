// codex in the lab: CODEX_HOME with a config that knows the lab's model only.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabPlace, LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'codex',
  program: 'codex',
  node: null,
  isStandIn: false,
  wire: 'responses',
  environment: ({ home }) => ({ CODEX_HOME: codexHome(home), LAB_KEY: 'dummy' }),
  configure: (place) => configureCodex(place),
  slowCases: [],
  resumesElsewhere: true,
  model: null,
};

export function codexHome(home: string): string {
  return join(home, '.codex');
}

/** `userConfig`: lines of the user's own config.toml. */
export function configureCodex({ home, baseUrl }: LabPlace, userConfig = ''): void {
  mkdirSync(codexHome(home), { recursive: true });
  writeFileSync(join(codexHome(home), 'config.toml'), makeConfig(`${baseUrl}/v1`, userConfig));
}

// gpt-5.5: a model whose metadata this version of codex knows, else every run has a warning. Without plugins codex asks
// neither github.com nor chatgpt.com. An idle stream is given up late, so that a hanging model hangs.
function makeConfig(baseUrl: string, userConfig: string): string {
  return `model = "gpt-5.5"
model_provider = "lab"
check_for_update_on_startup = false
${userConfig}

[analytics]
enabled = false

[features]
plugins = false

[model_providers.lab]
name = "lab"
base_url = ${JSON.stringify(baseUrl)}
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 600000
supports_websockets = false
`;
}
