/**
 * Runs one test file in a process and group of its own, within a limit, and turns what came of it into counts. A file that
 * runs no test, dies, does not end, or leaves processes behind has failed, whatever its tests said. The environment is
 * the machine's, less what would change the tested program (JOB_*, NODE_OPTIONS) or slow each start down
 * (NODE_EXTRA_CA_CERTS costs Node 20 85 ms).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endLeaks, FOLDER_PREFIX, MARKER } from '../leaks.ts';
import { ROWS_FOLDER, type RowResult, rowOfTest } from './rows.ts';
import { makeTally, type Tally } from './tally.ts';

interface Line {
  kind: 'pass' | 'fail' | 'skip' | 'todo' | 'note';
  name: string;
  detail?: string;
}

export interface FileOptions {
  limitMs: number;
  /** Added to the environment of the tests. */
  env?: Record<string, string>;
}

const OUTPUT_TAIL = 4_000;
const register = pathToFileURL(join(import.meta.dirname, '../register.mjs')).href;
const reporter = pathToFileURL(join(import.meta.dirname, 'reporter.mjs')).href;
/** By marker. */
const running = new Map<string, ChildProcess>();

export async function runTestFile(file: string, label: string, { limitMs, env }: FileOptions): Promise<Tally> {
  // A runner that a test runs goes on with that test's marker, so that the outer one finds everything.
  const outer = process.env[MARKER];
  const marker = `${outer ? `${outer}.` : ''}${randomBytes(3).toString('hex')}`;
  const report = join(tmpdir(), `${FOLDER_PREFIX}${marker}-report.ndjson`);
  const options = ['--import', register, `--test-reporter=${reporter}`, `--test-reporter-destination=${report}`];
  const child = spawn(process.execPath, [...options, file], {
    env: { ...cleanEnvironment(), ...env, [MARKER]: marker },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.set(marker, child);
  const end = await waitForEnd(child, limitMs);
  running.delete(marker);
  const leaks = await endLeaks({ marker }, end.cutOff ? 0 : 1_000);
  const lines = readReport(report);
  const tally = count(lines, end, label);
  if (leaks.length > 0 && !end.cutOff) {
    tally.failures.push({ name: label, detail: `left processes behind, killed now: ${leaks.join('; ')}` });
  }
  if (file.includes(ROWS_FOLDER)) tally.rows = findRows(lines, tally, label);
  removeFolders(marker);
  return tally;
}

/** For an interrupted run: the groups of their own do not hear of Ctrl-C. */
export async function endRunningFiles(): Promise<void> {
  for (const [marker, child] of running) {
    killGroup(child);
    await endLeaks({ marker }, 0);
    removeFolders(marker);
  }
}

interface End {
  code: number | null;
  signal: string | null;
  cutOff: string | undefined;
  output: string;
}

function waitForEnd(child: ChildProcess, limitMs: number): Promise<End> {
  return new Promise((resolve) => {
    let output = '';
    let cutOff: string | undefined;
    const keep = (chunk: Buffer) => {
      output = (output + chunk).slice(-OUTPUT_TAIL);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const limit = setTimeout(() => {
      cutOff = `not over after ${limitMs / 1000} s, killed`;
      killGroup(child);
    }, limitMs);
    const settle = (code: number | null, signal: string | null) => {
      clearTimeout(limit);
      resolve({ code, signal, cutOff, output });
    };
    child.once('error', (error) => {
      output += error.message;
      settle(null, null);
    });
    // Not `close`: a left-over process may hold the pipes for ever, and is looked for next.
    child.once('exit', (code, signal) => setTimeout(settle, 20, code, signal));
  });
}

function count(lines: Line[], { code, signal, cutOff, output }: End, label: string): Tally {
  const tally = makeTally();
  for (const { kind, name, detail } of lines) {
    if (kind === 'pass') tally.passed += 1;
    if (kind === 'skip' || kind === 'todo') tally.skipped.push(`${kind}: ${label}: ${name}`);
    if (kind === 'fail') tally.failures.push({ name: `${label}: ${name}`, detail: detail ?? '' });
  }
  const notes = lines.filter(({ kind }) => kind === 'note').map(({ detail }) => detail);
  const fault = cutOff ?? judgeProcess(tally, lines.length - notes.length, code, signal);
  if (fault) tally.failures.push({ name: label, detail: [fault, ...notes, output].join('\n') });
  return tally;
}

/** A file that is at fault as a whole shows nothing; nor does a test of which a part failed or was skipped. */
function findRows(lines: Line[], { failures }: Tally, label: string): RowResult[] {
  const isFileAtFault = failures.some(({ name }) => name === label);
  return lines.flatMap(({ kind, name }) => {
    const id = kind === 'note' ? undefined : rowOfTest(name);
    return id === undefined ? [] : [{ id, passed: kind === 'pass' && !isFileAtFault }];
  });
}

/** What is wrong with the process although no test says so. */
function judgeProcess(tally: Tally, reported: number, code: number | null, signal: string | null): string | undefined {
  if (code === 0 && reported === 0) return 'the file ran no test';
  if (code === 0) return undefined;
  if (code === 1 && tally.failures.length > 0) return undefined;
  return `the process ended with ${signal ?? `code ${code}`} beside what its tests said`;
}

function readReport(path: string): Line[] {
  try {
    const text = readFileSync(path, 'utf8');
    // A process that was killed may have left half a line.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

function removeFolders(marker: string): void {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(`${FOLDER_PREFIX}${marker}`)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (!pid) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const taken = /^(JOB_(?!TEST_NODE$)|NODE_(OPTIONS|EXTRA_CA_CERTS|TEST_CONTEXT|V8_COVERAGE)$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !taken.test(name)));
}
