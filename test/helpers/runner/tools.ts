/**
 * The three steps that are one test each: lint, types, and the identity of the committed built file with a fresh build.
 * Each passes or fails as a whole and shows what the tool said.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compareWithBuild } from '../identity.ts';
import { makeTally, type Tally } from './tally.ts';

const root = join(import.meta.dirname, '../../..');
const bin = (name: string) => join(root, 'node_modules/.bin', name);

export const runLint = () =>
  runTool('lint', bin('biome'), ['check', '--error-on-warnings', '--colors=off', '--max-diagnostics=20', '.']);

export const runTypes = () => runTool('types', bin('tsc'), ['-p', '.', '--pretty', 'false']);

export async function runIdentity(): Promise<Tally> {
  const differences = await compareWithBuild(root);
  return judge('identity', differences.length === 0, differences.join('\n'));
}

function runTool(name: string, program: string, args: string[]): Promise<Tally> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const keep = (chunk: Buffer) => {
      said += chunk;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => resolve(judge(name, false, `cannot run ${program}: ${error.message}`)));
    child.once('close', (code) => resolve(judge(name, code === 0, said)));
  });
}

function judge(name: string, passed: boolean, detail: string): Tally {
  return passed ? makeTally({ passed: 1 }) : makeTally({ failures: [{ name, detail }] });
}
