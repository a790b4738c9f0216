// The page that lists everything fits a terminal of 80 columns.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Context } from '../../companion/src/commands/command.ts';
import { help } from '../../companion/src/commands/help.ts';
import { loopVerbs } from '../../companion/src/commands/loop/registry.ts';
import { parseCommand } from '../../companion/src/commands/parse.ts';
import { commandNames } from '../../companion/src/commands/registry.ts';
import { watchIds } from '../../companion/src/watches/registry.ts';

test('no line of the main page is longer than 80 characters, and all commands are on it', async () => {
  const page = String((await help.run({} as Context, parseCommand(help, []))).out);
  assert.deepEqual(
    page.split('\n').filter((line) => line.length > 80),
    [],
  );
  for (const name of ['run', 'implement', 'doctor', 'help']) assert.match(page, new RegExp(`^  ${name} `, 'm'));
});

test('no line of the page of a command or of a watch is longer than 80 characters', async () => {
  const pages = [...commandNames.map((word) => [word]), ...watchIds.map((id) => ['watch', id])];
  for (const words of [...pages, ['timer', 'in'], ['timer', 'at'], ...loopVerbs.map((verb) => ['loop', verb])]) {
    const page = String((await help.run({} as Context, parseCommand(help, words))).out);
    const long = page.split('\n').filter((line) => line.length > 80);
    assert.deepEqual(long, [], words.join(' '));
  }
});
