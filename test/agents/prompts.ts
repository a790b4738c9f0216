/**
 * Prompts of every shape, each to be found byte for byte in what the model was sent, whatever stands around it.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastUserText } from '../lab/model.ts';
import type { Desk } from './desk.ts';

/** No character of it may be lost, changed or acted on. */
export const hazards = [
  '--wait --timeout 1s $(touch pwned) `touch pwned` "double" \'single\' \\ \\n %s %% ! ~ * ? [a] {b,c} ; & | < > # @file',
  '\ttab, "\u{1f600} \u00e9\u0301 \u4f60\u597d \u202eright-to-left\u202c',
  'carriage\r\nreturn, ${HOME} $HOME $$ \u0001\u001b[31m EOF',
  '  two trailing spaces  ',
].join('\n');

const big = `${'The quick brown f\u00f6x. '.repeat(15_000)}end`;
assert.ok(Buffer.byteLength(big) > 300_000);

type Give = (file: string) => string[];
const ways: Record<'prompt' | 'file' | 'stdin', (prompt: string) => Give> = {
  prompt: (prompt) => () => ['--prompt', prompt],
  file: () => (file) => ['--prompt-file', file],
  stdin: () => () => ['--stdin'],
};

const cases: [what: string, way: keyof typeof ways, prompt: string][] = [
  ['300 KB', 'file', big],
  ['a prompt that begins with --', 'prompt', '--help me, and tell the --version'],
  ['a prompt that begins with /', 'prompt', '/help me with this'],
  ['every quoting hazard', 'stdin', hazards],
];

export function definePromptCases(
  define: (what: string, scenario: string, body: (desk: Desk) => Promise<void>) => void,
): void {
  for (const [what, way, prompt] of cases) {
    define(`${what} arrives byte for byte`, 'text', async (desk) => {
      const file = join(desk.workspace.base, 'prompt.txt');
      writeFileSync(file, prompt);
      const job = await desk.start(ways[way](prompt)(file), { input: way === 'stdin' ? prompt : undefined });
      const { state } = await desk.end(job);
      assert.equal(state.state, 'done', JSON.stringify(state.error));
      const [request] = desk.lab.model.requests();
      assert.ok(request, 'the model was asked');
      const text = lastUserText(request);
      if (!text.includes(prompt)) assert.equal(text, prompt);
      assert.equal(existsSync(desk.workspace.path('pwned')), false);
    });
  }
}
