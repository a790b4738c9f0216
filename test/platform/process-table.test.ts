// Rows of the process table: what the kernel's line says, also when the process has a strange name.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  parseStat,
  readProcess,
  readProcesses,
  readProcessVariable,
} from '../../companion/src/platform/process-table.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { startProgram } from './child-program.ts';

const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc here' };

/** A line as the kernel writes it. */
const lineOf = (name: string) =>
  `4242 (${name}) S 17 4240 4239 0 -1 4194560 100 0 0 0 5 7 3 4 20 0 1 0 987654 1000 200 18446744073709551615 1\n`;

for (const name of ['sh', '', 'a b', 'a) S 1 1 1', '(', ')', '((', '))', ') (', 'x\ny', ' ', '\u00e9']) {
  test(`a process named ${JSON.stringify(name)} is read by its fields`, () => {
    assert.deepEqual(parseStat(lineOf(name)), {
      pid: 4242,
      name,
      state: 'S',
      parent: 17,
      group: 4240,
      session: 4239,
      cpu: 12,
      waited: 7,
      start: '987654',
    });
  });
}

test('what is no such line is no row', () => {
  for (const text of [
    '',
    '\n',
    '42',
    '42 (sh',
    '42 sh) S 1',
    '42 (sh) S 1 2 3',
    '(sh) S 1 2 3',
    `x${lineOf('sh')}`,
    ')('.repeat(30),
  ]) {
    assert.equal(parseStat(text), undefined, JSON.stringify(text));
  }
});

test('our own row is what the kernel says of us', onLinux, () => {
  const row = readProcess(process.pid);
  assert.equal(row?.pid, process.pid);
  assert.equal(row?.parent, process.ppid);
  assert.deepEqual(row?.start, parseStat(readFileSync('/proc/self/stat', 'utf8'))?.start);
  assert.ok(readProcesses().some((one) => one.pid === process.pid && one.start === row?.start));
});

test('a pid of 1 and below, or none at all, has no row', () => {
  for (const pid of [1, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 31 - 2]) {
    assert.equal(readProcess(pid), undefined, String(pid));
  }
});

test('a variable of a process is found by its whole name, first, in between or last', onLinux, async (t) => {
  const workspace = makeWorkspace(t, { git: false });
  const env = { FIRST: '1', MARK: 'a=b', XMARK: 'no', EMPTY: '', MARKED: 'no' };
  const { identity } = startProgram(workspace, ['/bin/cat'], { env });
  const read = (name: string) => readProcessVariable(identity.pid, name);
  assert.equal(read('FIRST'), '1');
  assert.equal(read('MARK'), 'a=b');
  assert.equal(read('EMPTY'), '');
  assert.equal(read('HOME'), workspace.home);
  for (const name of ['ARK', 'MAR', 'a', 'b', 'FIRST=1', '']) assert.equal(read(name), undefined, name);
  assert.equal(readProcessVariable(2 ** 31 - 2, 'MARK'), undefined);
});
