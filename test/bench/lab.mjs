/**
 * The world in which everything is measured: a folder of its own, an environment without the caller's variables (so no
 * NODE_OPTIONS and no NODE_EXTRA_CA_CERTS), a copy of the built file (a rebuild in the middle changes nothing), and the end of
 * all that was started. Every process carries JOB_BENCH, by which it is found again on Linux.
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProc, listMarked } from './proc.mjs';
import { sleep } from './timing.mjs';

const built = fileURLToPath(new URL('../../companion/job-companion.cjs', import.meta.url));
/** Anything that should take seconds and takes this long is given up. */
const limitMs = 120_000;

export function makeLab() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'job-bench-')));
  const mark = `bench-${process.pid}-${Date.now().toString(36)}`;
  const env = {
    PATH: process.env.PATH,
    HOME: join(folder, 'home'),
    XDG_CONFIG_HOME: join(folder, 'home', 'config'),
    TMPDIR: join(folder, 'tmp'),
    BGPROC_DATA_DIR: join(folder, 'bgproc-data'),
    TS_SOCKET: join(folder, 'tsp.socket'),
    NQDIR: join(folder, 'nq'),
    JOB_BENCH: mark,
  };
  for (const inner of [env.HOME, env.TMPDIR, env.NQDIR]) mkdirSync(inner, { recursive: true });
  const companion = join(folder, 'job-companion.cjs');
  copyFileSync(built, companion);
  const states = new Set();
  const atEnd = [];

  const lab = {
    folder,
    env,
    companion,
    /** Words of one of our commands on a state folder. */
    ours: (state, ...words) => {
      states.add(state);
      // What stands behind `--` belongs to the job.
      const at = words.includes('--') ? words.indexOf('--') : words.length;
      return [process.execPath, companion, ...words.slice(0, at), '--state-dir', state, ...words.slice(at)];
    },
    newFolder: (name) => mkdtempSync(join(folder, `${name}-`)),
    /** Run to the end, in ms from before the spawn to after the exit. Throws when it does not give `code`. */
    time: (words, { code = 0 } = {}) => {
      const begun = process.hrtime.bigint();
      const result = spawnSync(words[0], words.slice(1), { env, cwd: folder, encoding: 'utf8', timeout: limitMs });
      const ms = Number(process.hrtime.bigint() - begun) / 1e6;
      if (result.error) throw result.error;
      if (result.status !== code)
        throw new Error(`${words.slice(2, 8).join(' ')} gave ${result.status}: ${result.stderr}`);
      return { ms, stdout: result.stdout };
    },
    /** Start and go on. `exit` comes true at the very end, before the pipes are read out. */
    start: (words, options = {}) => {
      const child = spawn(words[0], words.slice(1), {
        env,
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        ...options,
      });
      const text = { stdout: '', stderr: '' };
      child.stdout?.setEncoding('utf8').on('data', (part) => {
        text.stdout += part;
      });
      child.stderr?.setEncoding('utf8').on('data', (part) => {
        text.stderr += part;
      });
      const exit = new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (code, signal) => resolve({ code, signal }));
      });
      exit.catch(() => undefined);
      const close = new Promise((resolve) => child.once('close', resolve));
      return { child, pid: child.pid, text, exit, close };
    },
    atEnd: (fn) => atEnd.push(fn),
    end: async () => {
      for (const fn of atEnd.splice(0)) fn();
      for (const state of states) cancelAll(lab, state);
      await endMarked(mark);
      // A worker that is just ending may still write.
      for (let left = 20; left > 0; left -= 1) {
        try {
          rmSync(folder, { recursive: true, force: true });
          return;
        } catch {
          await sleep(100);
        }
      }
    },
  };
  return lab;
}

function cancelAll(lab, state) {
  let live = [];
  try {
    live = readdirSync(join(state, 'active'));
  } catch {
    // Never used.
  }
  for (const id of live) {
    const [program, ...words] = lab.ours(state, 'cancel', id);
    spawnSync(program, words, { env: lab.env, cwd: lab.folder, timeout: 45_000 });
  }
}

async function endMarked(mark) {
  if (!isProc) return;
  for (let left = 50; left > 0; left -= 1) {
    const pids = listMarked(`JOB_BENCH=${mark}`);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
    await sleep(20);
  }
}
