// The command line: strict about what it does not know, open about what a text may be, and exact in what it says.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Parsed, parseCommand } from '../../companion/src/commands/parse.ts';
import { FaultError } from '../../companion/src/core/errors.ts';
import type { Parsable } from '../../companion/src/core/option-table.ts';

const options: Parsable['options'] = {
  label: { kind: 'text', help: '' },
  prompt: { kind: 'text', help: '' },
  json: { kind: 'flag', help: '' },
  timeout: { kind: 'duration', range: { default: 60_000, min: 1000, max: 3_600_000 }, help: '' },
  'max-output': { kind: 'size', range: { default: 4096, min: 1024, max: 1_048_576 }, help: '' },
  recent: { kind: 'count', range: { default: 10, min: 0, max: 100 }, help: '' },
  profile: { kind: 'choice', choices: ['restricted', 'standard'], help: '' },
  help: { kind: 'flag', help: '' },
};
/** Takes one or two words. */
const show: Parsable = { name: 'show', form: 'ID [OTHER]', options, words: { min: 1, max: 2 } };
/** Takes a command behind `--`. */
const start: Parsable = {
  name: 'start',
  form: '[options] -- COMMAND ARG...',
  options,
  words: { min: 0, max: 0, rest: true },
};
const plain: Parsable = { ...show, name: 'plain', form: '', words: { min: 0, max: 0 } };

function refusal(command: Parsable, ...args: string[]): FaultError {
  try {
    parseCommand(command, args);
  } catch (error) {
    assert.ok(error instanceof FaultError, String(error));
    assert.equal(error.code, 'usage');
    return error;
  }
  return assert.fail(`${args.join(' ')} was taken`);
}

const all = (parsed: Parsed) =>
  Object.fromEntries(
    Object.keys(options)
      .filter((name) => parsed.has(name))
      .map((name) => [name, parsed.text(name)]),
  );

test('options and words are read in any order', () => {
  for (const args of [
    ['--label', 'a b', 'x', '--json', 'y', '--timeout=5m'],
    ['x', 'y', '--timeout', '5m', '--json', '--label=a b'],
  ]) {
    const parsed = parseCommand(show, args);
    assert.deepEqual(parsed.words, ['x', 'y']);
    assert.equal(parsed.rest, null);
    assert.deepEqual(all(parsed), { label: 'a b', json: 'true', timeout: '5m' });
    assert.equal(parsed.duration('timeout'), 300_000);
  }
});

test('what was not given is not there', () => {
  const parsed = parseCommand(plain, []);
  assert.deepEqual([parsed.words, parsed.rest, all(parsed)], [[], null, {}]);
  assert.deepEqual(
    [parsed.text('label'), parsed.duration('timeout'), parsed.size('max-output'), parsed.count('recent')],
    Array(4).fill(undefined),
  );
  assert.equal(parsed.durationOrDefault('timeout'), 60_000);
});

test('a text takes the next word whatever it is', () => {
  for (const text of [
    '--help',
    '--json',
    '--label',
    '--',
    '-',
    '-x',
    '--unknown',
    '--label=x',
    '',
    ' ',
    '\n',
    '--prompt',
    '\u00e9',
  ]) {
    assert.equal(parseCommand(plain, ['--prompt', text]).text('prompt'), text, JSON.stringify(text));
    const both = parseCommand(plain, ['--prompt', text, '--label', text]);
    assert.deepEqual(all(both), { prompt: text, label: text });
  }
});

test('a text behind an equals sign is everything after the first one', () => {
  for (const text of ['', 'a=b', '=', '--json', '-- x', 'a\nb']) {
    assert.equal(parseCommand(plain, [`--prompt=${text}`]).text('prompt'), text);
  }
});

test('what stands behind -- is the command, word for word', () => {
  for (const rest of [
    ['make', '-j2', '--timeout', '5m'],
    ['--help'],
    ['--json', '--', '--unknown'],
    ['--'],
    ['', ' '],
    ['-x', '-', 'a=b'],
  ]) {
    const parsed = parseCommand(start, ['--timeout', '5s', '--', ...rest]);
    assert.deepEqual(parsed.rest, rest);
    assert.deepEqual([parsed.words, all(parsed)], [[], { timeout: '5s' }]);
  }
});

test('where no command is taken, -- only ends the options', () => {
  const parsed = parseCommand(show, ['--json', '--', '--label', '--json']);
  assert.deepEqual([parsed.words, all(parsed)], [['--label', '--json'], { json: 'true' }]);
});

test('an unknown option is refused, with what the command knows', () => {
  for (const option of [
    '--labels',
    '--lab',
    '--Label',
    '--no-json',
    '--unknown=5',
    '---label',
    '-l',
    '-x',
    '-xyz',
    '-5',
    '-json',
  ]) {
    const { message } = refusal(plain, option);
    const known = '--label --prompt --json --timeout --max-output --recent --profile --help';
    const said = option.startsWith('--') ? option.replace(/=.*/, '') : option.slice(0, 2);
    assert.equal(message, `cannot take option ${said}: plain knows ${known}`);
  }
});

test('names that every object has are no options', () => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__']) {
    assert.match(refusal(plain, `--${name}=x`).message, /^cannot take option --/);
    assert.match(refusal(plain, `--${name}`).message, /^cannot take option --/);
  }
});

test('an option is refused the second time, in either form', () => {
  assert.equal(refusal(plain, '--label', 'a', '--label', 'a').message, 'cannot take --label twice');
  assert.equal(refusal(plain, '--label=a', '--label', 'b').message, 'cannot take --label twice');
  assert.equal(refusal(plain, '--json', '--json').message, 'cannot take --json twice');
});

test('an option without its value is refused, and so is a switch with one', () => {
  for (const name of ['label', 'timeout', 'recent', 'profile', 'max-output']) {
    assert.equal(refusal(plain, `--${name}`).message, `cannot take --${name} without a value`);
  }
  assert.equal(refusal(plain, '--json=true').message, 'cannot take a value for --json: it is a switch');
  assert.equal(refusal(plain, '--json=').message, 'cannot take a value for --json: it is a switch');
});

test('only the listed choices are taken', () => {
  assert.equal(parseCommand(plain, ['--profile', 'standard']).text('profile'), 'standard');
  for (const value of ['', 'Standard', 'standard ', 'all', '--json']) {
    assert.equal(
      refusal(plain, '--profile', value).message,
      `cannot take --profile ${JSON.stringify(value)}: allowed are restricted, standard`,
    );
  }
});

test('values of a kind are checked when they are read, before anything is done', () => {
  assert.equal(parseCommand(plain, ['--recent', '007']).count('recent'), 7);
  assert.equal(parseCommand(plain, ['--max-output', '2K']).size('max-output'), 2048);
  for (const value of ['', '-1', '1.5', '101', '1e2', 'x', '9'.repeat(16), '--json']) {
    assert.equal(
      refusal(plain, '--recent', value).message,
      `cannot take --recent ${JSON.stringify(value)}: allowed are whole numbers from 0 to 100`,
    );
  }
  assert.match(
    refusal(plain, '--timeout', '10').message,
    /^cannot read --timeout: "10" is no duration; allowed: 1s to 1h,/,
  );
  assert.match(refusal(plain, '--timeout', '2h').message, /^cannot take --timeout 2h: it is out of range;/);
  assert.match(refusal(plain, '--timeout', '--json').message, /^cannot read --timeout: "--json" is no duration;/);
  assert.match(
    refusal(plain, '--max-output', '1').message,
    /^cannot take --max-output "1": allowed are 1\.0 KiB to 1\.0 MiB,/,
  );
});

test('too many words, or too few, are refused with the form', () => {
  assert.equal(refusal(show, 'a', 'b', 'c d', '--json').message, 'cannot take "c d": the form is show ID [OTHER]');
  assert.equal(refusal(show).message, 'cannot run show: ID is missing; the form is show ID [OTHER]');
  assert.equal(refusal(show, 'a', 'b', '--', '--c').message, 'cannot take "--c": the form is show ID [OTHER]');
  assert.match(refusal(show).next ?? '', / show --help$/);
});

test('a command that is not behind -- is refused, with where it belongs', () => {
  const { message, next } = refusal(start, 'make', 'test');
  assert.equal(message, 'cannot take "make" "test": the form is start [options] -- COMMAND ARG...');
  assert.match(next ?? '', /put -- before the command/);
  for (const args of [[], ['--'], ['--json'], ['--json', '--']]) {
    assert.equal(
      refusal(start, ...args).message,
      'cannot run start without a command: the form is start [options] -- COMMAND ARG...',
    );
  }
});

test('a lone dash is a word', () => {
  assert.deepEqual(parseCommand(show, ['-', '--json']).words, ['-']);
});

test('help is taken in both forms and asks for nothing else', () => {
  for (const args of [['--help'], ['-h'], ['--json', '-h'], ['x', 'y', 'z', '--help']]) {
    assert.equal(parseCommand(show, args).has('help'), true, args.join(' '));
    assert.equal(parseCommand(start, args).has('help'), true, args.join(' '));
  }
  assert.equal(parseCommand(start, ['--', '--help']).has('help'), false);
  assert.equal(parseCommand(start, ['--label', '--help', '--', 'x']).has('help'), false);
});
