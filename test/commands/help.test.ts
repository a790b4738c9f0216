// The page that lists everything fits a terminal of 80 columns.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Context } from '../../companion/src/commands/command.ts';
import { help } from '../../companion/src/commands/help.ts';
import { parseCommand } from '../../companion/src/commands/parse.ts';

test('no line of the main page is longer than 80 characters, and all commands are on it', async () => {
  const page = String((await help.run({} as Context, parseCommand(help, []))).out);
  assert.deepEqual(
    page.split('\n').filter((line) => line.length > 80),
    [],
  );
  for (const name of ['run', 'implement', 'doctor', 'help']) assert.match(page, new RegExp(`^  ${name} `, 'm'));
});
