// The real codex for one test (agent-lab.ts), and what only its tests need: its home, and lines of a user's own config.
import type { Workspace } from '../helpers/workspace.ts';
import { type AgentLab, makeAgentLab } from './agent-lab.ts';
import { codexHome, configureCodex, profile } from './agents/codex/profile.ts';

export interface CodexLab extends Omit<AgentLab, 'use'> {
  readonly codexHome: string;
  /** What the model answers from the next start of codex on. `userConfig`: lines of the user's own config.toml. */
  use(scenario: string, options?: { userConfig?: string }): void;
}

export async function makeCodexLab(workspace: Workspace, scenario: string): Promise<CodexLab> {
  const lab = await makeAgentLab(workspace, profile, scenario);
  const { home, dir } = workspace;
  const use: CodexLab['use'] = (name, { userConfig } = {}) => {
    lab.use(name);
    configureCodex({ home, dir, baseUrl: `${lab.model.url}/${name}` }, userConfig);
  };
  return { ...lab, codexHome: codexHome(home), use };
}
