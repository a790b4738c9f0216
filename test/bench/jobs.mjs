/** Starting real jobs, looking at their records from outside, and filling a state folder with finished ones. */
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from './proc.mjs';
import { sleep, until } from './timing.mjs';

export const idPattern = /^[a-z]{2,12}-[0-9a-z]{8,9}-[0-9a-z]{6}$/;
export const jobFile = (state, id, ...names) => join(state, 'jobs', id, ...names);

export function launch(lab, state, command, options = []) {
  const { ms, stdout } = lab.time(lab.ours(state, 'run', '--id-only', ...options, '--', ...command));
  const id = stdout.trim();
  if (!idPattern.test(id)) throw new Error(`run --id-only printed ${JSON.stringify(stdout)}`);
  return { id, ms };
}

export function readRecord(state, id, name) {
  try {
    return JSON.parse(readFileSync(jobFile(state, id, name), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Until the end is published and the worker is gone, and a moment of quiet after it. */
export async function settle(state, id) {
  await until(() => !existsSync(join(state, 'active', id)), `job ${id} does not end`);
  const worker = readRecord(state, id, 'launch.json')?.worker.pid;
  if (worker) await until(() => !isAlive(worker), `the worker of ${id} does not exit`);
  await sleep(30);
}

/** Until the worker has written who is who, which it does once the child runs. */
export function untilRunning(state, id) {
  return until(() => {
    const record = readRecord(state, id, 'worker.json');
    return record?.child && record;
  }, `job ${id} does not start`);
}

/**
 * `count` finished jobs: a few real ones, copied under other valid ids one second apart, with the id rewritten inside. (Their MACs are
 * wrong then, which matters to nothing that is over.)
 */
export async function fillWithFinished(lab, state, count) {
  const real = [];
  for (const command of [['true'], ['sh', '-c', 'echo out; exit 3'], ['sh', '-c', 'echo a; echo b >&2']]) {
    const { id } = launch(lab, state, command);
    await settle(state, id);
    real.push(id);
  }
  const begun = Date.now() - count * 1000;
  for (let n = real.length; n < count; n += 1) {
    const from = real[n % real.length];
    const to = `run-${(begun + n * 1000).toString(36)}-${n.toString(36).padStart(6, 'b')}`;
    copyJob(state, from, to);
  }
  return readdirSync(join(state, 'jobs')).filter((name) => idPattern.test(name));
}

function copyJob(state, from, to) {
  const [source, target] = [jobFile(state, from), jobFile(state, to)];
  mkdirSync(target, { mode: 0o700 });
  for (const name of readdirSync(source)) {
    const path = join(source, name);
    const facts = lstatSync(path);
    if (facts.isDirectory()) {
      cpSync(path, join(target, name), { recursive: true, filter: (one) => !lstatSync(one).isFIFO() });
    } else if (facts.isFile()) {
      writeFileSync(join(target, name), readFileSync(path, 'utf8').replaceAll(from, to), { mode: 0o600 });
    }
  }
}
