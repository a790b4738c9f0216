/**
 * Owns how a test puts the program on a terminal: `script` of util-linux makes a pseudo terminal of a given size and copies what is
 * written there. Its input is what a person types. Where `script` is not that one, `hasTerminal` is false and the test is skipped.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { builtFile } from './companion.ts';
import { eventually } from './eventually.ts';
import { testNode } from './test-node.ts';
import type { Workspace } from './workspace.ts';

export const hasTerminal = /util-linux/.test(String(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout));

export interface OnTerminal {
  /** All that was written to the terminal so far. */
  output(): string;
  type(text: string): void;
  resize(columns: number): Promise<void>;
  /** The code of the program, 128+n after a signal. */
  promise: Promise<number>;
  /** Settings of the terminal before and after. */
  settings(): { before: string; after: string };
}

let count = 0;

export function startOnTerminal(
  workspace: Workspace,
  words: string[],
  { columns = 80, rows = 24, env = {} }: { columns?: number; rows?: number; env?: Record<string, string> } = {},
): OnTerminal {
  count += 1;
  const at = (name: string) => `${workspace.base}/terminal-${count}-${name}`;
  const quoted = [testNode(), builtFile, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  // The shell outlives a Ctrl-C that is meant for the program, to say how that ended.
  const line = `trap : INT; stty cols ${columns} rows ${rows}; tty >'${at('tty')}'; stty -g >'${at('before')}'; ${quoted}; code=$?; stty -g >'${at('after')}'; echo $code >'${at('code')}'`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: workspace.dir,
    env: { ...workspace.env, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  workspace.defer(() => child.kill('SIGKILL'));
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const promise = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(existsSync(at('code')) ? Number(readFileSync(at('code'), 'utf8')) : -1));
  });
  const read = (name: string) => readFileSync(at(name), 'utf8').trim();
  return {
    output: () => Buffer.concat(chunks).toString('utf8'),
    type: (text) => void child.stdin.write(text),
    async resize(wanted) {
      const tty = await eventually('the terminal', () => existsSync(at('tty')) && read('tty'));
      execFileSync('stty', ['-F', tty, 'cols', String(wanted)]);
    },
    promise,
    settings: () => ({ before: read('before'), after: read('after') }),
  };
}
