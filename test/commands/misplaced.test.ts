// Options that stand behind `--`: what is ours before and after the program's own words, and nothing between them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { misplacedIn } from '../../companion/src/commands/misplaced.ts';
import { watchOptions } from '../../companion/src/commands/watch-options.ts';

const cases: [rest: string, options: string, program: string][] = [
  ['/bin/test -e x --for 1h --every 5s', '--for 1h --every 5s', '/bin/test -e x'],
  ['--for 1h /bin/test -e x', '--for 1h', '/bin/test -e x'],
  ['--repeat /bin/test --for=1h', '--repeat --for=1h', '/bin/test'],
  ['/bin/gh pr view --json state --for 1h', '--for 1h', '/bin/gh pr view --json state'],
  ['--for 1h', '--for 1h', ''],
];

for (const [rest, options, program] of cases) {
  test(`of ${rest} the options are ${options}`, () => {
    const found = misplacedIn(watchOptions(false), rest.split(' '));
    assert.deepEqual([found?.options.join(' '), found?.program.join(' ')], [options, program]);
  });
}

for (const rest of ['/bin/test -e x', '/bin/x --unknown 1', '/bin/x --for', '/bin/x --json y', '']) {
  test(`of ${JSON.stringify(rest)} nothing is ours`, () => {
    assert.equal(misplacedIn(watchOptions(false), rest.split(' ').filter(Boolean)), undefined);
  });
}
