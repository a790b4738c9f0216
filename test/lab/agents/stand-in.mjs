// What the scripted stand-ins for CLIs that cannot be installed here have in common. A stand-in replays documented shapes:
// it proves that we read those shapes and call the CLI in that way, and nothing about the CLI itself.
//
//   STAND_IN_SCENARIO   what happens (default `text`); each stand-in lists its scenarios
//   STAND_IN_RECORD     a file that gets one JSON line per call: {"program","argv","cwd","stdin"}, stdin as base64
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const home = process.env.HOME ?? '/nonexistent';

/** Reads stdin to its end, as the real ones do, and records the call. */
export async function begin(program) {
  const argv = process.argv.slice(2);
  const parts = [];
  for await (const part of process.stdin) parts.push(part);
  const stdin = Buffer.concat(parts);
  const call = { program, argv, cwd: process.cwd(), stdin: stdin.toString('base64') };
  const { STAND_IN_RECORD: record, STAND_IN_SCENARIO: scenario = 'text' } = process.env;
  if (record) appendFileSync(record, `${JSON.stringify(call)}\n`);
  return { argv, scenario, stdin: stdin.toString('utf8') };
}

/**
 * Options as `--name value`, `--name=value` or a bare `--name`, by `known` (name to 'value' or 'flag'). Anything else is
 * given to `refuse`, which does not return.
 */
export function parseOptions(argv, known, refuse) {
  const options = {};
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, name, , value] = /^(--?[\w-]+)(=(.*))?$/s.exec(word) ?? [];
    const kind = Object.hasOwn(known, name ?? '') ? known[name] : refuse(word);
    const text = kind === 'flag' ? true : (value ?? words.shift() ?? refuse(word));
    options[name] = [...(options[name] ?? []), text];
  }
  return options;
}

export function say(event) {
  writeSync(1, `${JSON.stringify(event)}\n`);
}

export function complain(line) {
  writeSync(2, `${line}\n`);
}

/** What the CLI remembers of a conversation, in its home; undefined for an unknown one. */
export function recall(program, id) {
  const file = fileOf(program, id);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

export function remember(program, id, memory) {
  mkdirSync(join(home, '.stand-in', program), { recursive: true });
  writeFileSync(fileOf(program, id), JSON.stringify(memory));
}

function fileOf(program, id) {
  return join(home, '.stand-in', program, `${encodeURIComponent(id)}.json`);
}

/** Runs a shell command for real, in the working folder; resolves with its output. */
export function runCommand(command) {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    const parts = [];
    child.stdout.on('data', (part) => parts.push(part));
    child.on('close', () => resolve(Buffer.concat(parts).toString('utf8')));
  });
}

/** A process that holds our stdout after we have ended. */
export function leaveChild() {
  spawn('/bin/sh', ['-c', 'exec sleep 300'], { stdio: ['ignore', 'inherit', 'ignore'] }).unref();
}

/** Until a signal ends us. */
export function waitForEver() {
  return new Promise(() => setInterval(() => {}, 60_000));
}
