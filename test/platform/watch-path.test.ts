// Being told of the next change: once, by whichever file changes, and not after a stop.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import test from 'node:test';
import { onNextChange } from '../../companion/src/platform/watch-path.ts';
import { makeWorkspace } from '../helpers/workspace.ts';

test('the next change of one of the files is told once', async (t) => {
  const { write } = makeWorkspace(t, { git: false });
  const files = [write('a', ''), write('b', '')];
  let times = 0;
  // The watch itself keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  await new Promise<void>((resolve) => {
    onNextChange(files, () => {
      times += 1;
      resolve();
    });
    appendFileSync(files[1]!, 'x');
    appendFileSync(files[0]!, 'x');
  });
  // Another watch is told of later changes of the same file; the first one is over.
  await new Promise<void>((resolve) => {
    onNextChange([files[0]!], resolve);
    appendFileSync(files[0]!, 'y');
  });
  clearInterval(alive);
  assert.equal(times, 1);
});

test('after a stop nothing is told, and files that are not there are no error', async (t) => {
  const { write, path } = makeWorkspace(t, { git: false });
  const file = write('a', '');
  const alive = setInterval(() => undefined, 1000);
  onNextChange([path('none')], () => assert.fail('told of nothing'))();
  const stop = onNextChange([path('none'), file], () => assert.fail('told after the stop'));
  const told = new Promise<void>((resolve) => {
    onNextChange([path('none'), file], resolve);
  });
  stop();
  stop();
  appendFileSync(file, 'x');
  await told;
  clearInterval(alive);
});
