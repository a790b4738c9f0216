// Starts the scripted model (model-server.mjs) for one test and ends it with the workspace. Its stdin is ours, so it
// also ends when the test process dies. `requests` tells what agent CLIs asked it.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Workspace } from '../helpers/workspace.ts';

export interface ModelRequest {
  n: number;
  url: string;
  scenario: string;
  wire: 'responses' | 'chat' | 'messages' | 'gemini' | null;
  /** One that a CLI makes for itself (title, quota, tokens), or a path that is no model's. */
  side: boolean;
  /** Names of the tools that the client declared. */
  tools: string[];
  user_turns: number | null;
  last_user: { bytes: number; sha256: string } | null;
  /** Holds the newest user text. */
  last_user_file: string | null;
}

export interface LabModel {
  readonly url: string;
  /** Without side requests. */
  requests(): ModelRequest[];
  allRequests(): ModelRequest[];
}

/** What the user said last, with everything that the CLI put around it. */
export function lastUserText({ last_user_file }: ModelRequest): string {
  return last_user_file === null ? '' : readFileSync(last_user_file, 'utf8');
}

export async function startModel(workspace: Workspace): Promise<LabModel> {
  const log = join(workspace.base, 'model-requests.ndjson');
  const program = join(import.meta.dirname, 'model-server.mjs');
  const child = spawn(process.execPath, [program, '--log', log], {
    env: workspace.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  workspace.defer(() => {
    child.kill();
    return ended;
  });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const url: string = JSON.parse(line).listening;
    const allRequests = () => readLines(log).map((text): ModelRequest => JSON.parse(text));
    return { url, allRequests, requests: () => allRequests().filter(({ side }) => !side) };
  }
  throw new Error('the lab model ended before it listened');
}

function readLines(path: string): string[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '');
}
