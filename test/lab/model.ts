// Starts the scripted model (model-server.mjs) for one test and ends it with the workspace. Its stdin is ours, so it
// also ends when the test process dies. `requests` tells what agent CLIs asked it.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Workspace } from '../helpers/workspace.ts';

export interface ModelRequest {
  n: number;
  scenario: string;
  user_turns: number | null;
  last_user: { bytes: number; sha256: string } | null;
}

export interface LabModel {
  readonly url: string;
  requests(): ModelRequest[];
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
    return { url, requests: () => readLines(log).map((text): ModelRequest => JSON.parse(text)) };
  }
  throw new Error('the lab model ended before it listened');
}

function readLines(path: string): string[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '');
}
