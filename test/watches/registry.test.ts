// What holds for every kind: its own options do not take the place of those that all watches have, and its examples can be read.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { parseCommand } from '../../companion/src/commands/parse.ts';
import { watchOptions } from '../../companion/src/commands/watch-options.ts';
import { loadWatch, watchIds } from '../../companion/src/watches/registry.ts';

for (const id of watchIds) {
  test(`${id}: its options are not among the shared ones`, async () => {
    const kind = await loadWatch(id);
    const shared = watchOptions(kind?.isRemote ?? true);
    assert.deepEqual(
      Object.keys(kind?.options ?? {}).filter((option) => option in shared),
      [],
    );
    assert.equal(kind?.id, id);
  });
}

for (const id of watchIds) {
  test(`${id}: every example is a command line that its table of options takes, bound included`, async () => {
    const kind = await loadWatch(id);
    assert.ok(kind && kind.examples.length > 0);
    for (const example of kind.examples) {
      const words = execFileSync('sh', ['-c', `printf '%s\\0' ${example}`], { encoding: 'utf8' })
        .split('\0')
        .slice(0, -1);
      assert.deepEqual(words.slice(0, 2), ['watch', id], example);
      const options = { ...kind.options, ...watchOptions(kind.isRemote) };
      const parsable = { name: `watch ${id}`, form: kind.form, words: kind.words, options };
      const input = parseCommand(parsable, words.slice(2));
      assert.ok(input.has('for'), example);
    }
  });
}
