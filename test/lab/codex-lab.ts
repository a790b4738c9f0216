// The real codex for one test: its pinned program (test/lab/agents/codex, `npm ci` there), a home of its own inside the
// workspace, and a config that knows no other model than the lab's. With it codex reaches nothing but 127.0.0.1.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from '../helpers/workspace.ts';
import { type LabModel, startModel } from './model.ts';

const programs = join(import.meta.dirname, 'agents/codex/node_modules/.bin');

export interface CodexLab {
  readonly model: LabModel;
  /** The codex program; its folder is first on the PATH of `env`. */
  readonly program: string;
  /** The workspace's environment plus CODEX_HOME and a dummy key. */
  readonly env: Readonly<Record<string, string>>;
  readonly codexHome: string;
  /** What the model answers from the next start of codex on. `userConfig`: lines of the user's own config.toml. */
  use(scenario: string, options?: { userConfig?: string }): void;
}

export async function makeCodexLab(workspace: Workspace, scenario: string): Promise<CodexLab> {
  const program = join(programs, 'codex');
  if (!existsSync(program)) throw new Error('codex is not installed; run: npm ci --prefix test/lab/agents/codex');
  const model = await startModel(workspace);
  const codexHome = join(workspace.home, '.codex');
  const use: CodexLab['use'] = (name, { userConfig = '' } = {}) => {
    mkdirSync(codexHome, { recursive: true });
    writeFileSync(join(codexHome, 'config.toml'), makeConfig(`${model.url}/${name}/v1`, userConfig));
  };
  use(scenario);
  const env = {
    ...workspace.env,
    PATH: `${programs}:${workspace.env.PATH}`,
    CODEX_HOME: codexHome,
    LAB_KEY: 'dummy',
  };
  return { model, program, env, codexHome, use };
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
