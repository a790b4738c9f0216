// One real agent CLI for one test, made of its profile (agents/ID/profile.ts): its pinned program (`npm ci` in
// agents/ID), a home of its own inside the workspace, and a config that knows no other model than the lab's. With it the
// CLI reaches nothing but 127.0.0.1. A stand-in (a script agents/ID/ID.mjs) gets the command's name in a folder on PATH.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from '../helpers/workspace.ts';
import type { LabPlace, LabProfile } from './agents/profile.ts';
import { type LabModel, startModel } from './model.ts';

export interface AgentLab {
  readonly profile: LabProfile;
  readonly model: LabModel;
  /** The program; its folder is on the PATH of `env`, behind that of the Node it needs. */
  readonly program: string;
  /** The workspace's environment plus what the profile adds for the scenario of now. */
  readonly env: Readonly<Record<string, string>>;
  /** What the model answers from the next start of the CLI on. */
  use(scenario: string): void;
}

export async function makeAgentLab(workspace: Workspace, profile: LabProfile, scenario: string): Promise<AgentLab> {
  const folders = profile.isStandIn ? [makeStandIn(workspace, profile)] : [requireProgram(profile)];
  if (profile.node !== null) folders.unshift(requireNode(profile));
  const model = await startModel(workspace);
  const { home, dir } = workspace;
  // Some unpack libraries there and leave them.
  const temp = join(workspace.base, 'tmp');
  mkdirSync(temp, { recursive: true });
  let place: LabPlace = { home, dir, baseUrl: model.url };
  const use = (name: string) => {
    place = { home, dir, baseUrl: `${model.url}/${name}` };
    profile.configure(place);
  };
  use(scenario);
  return {
    profile,
    model,
    program: join(folders.at(-1) ?? '', profile.program),
    get env() {
      const path = [...folders, workspace.env.PATH].join(':');
      return { ...workspace.env, PATH: path, TMPDIR: temp, ...profile.environment(place) };
    },
    use,
  };
}

function requireProgram({ id, program }: LabProfile): string {
  const folder = join(import.meta.dirname, 'agents', id, 'node_modules/.bin');
  if (!existsSync(join(folder, program)))
    throw new Error(`${program} is not installed; run: npm ci --prefix test/lab/agents/${id}`);
  return folder;
}

function requireNode({ program, node }: LabProfile): string {
  const folder = join(import.meta.dirname, `nodes/node_modules/node${node}/bin`);
  if (!existsSync(join(folder, 'node')))
    throw new Error(`${program} needs Node ${node}, which is not installed; run: npm ci --prefix test/lab/nodes`);
  return folder;
}

function makeStandIn({ base }: Workspace, { id, program }: LabProfile): string {
  const script = join(import.meta.dirname, `agents/${id}/${id}.mjs`);
  if (!existsSync(script)) throw new Error(`the stand-in for ${program} is missing: ${script}`);
  const folder = join(base, 'stand-in');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, program), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  chmodSync(join(folder, program), 0o755);
  return folder;
}
