// What holds for every kind: its own options do not take the place of those that all watches have, and its examples can be read.
import assert from 'node:assert/strict';
import test from 'node:test';
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
