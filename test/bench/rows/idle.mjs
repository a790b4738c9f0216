/**
 * What waiting costs: the CPU and the wakeups of a `wait` that idles 30 s, and the memory and CPU of the worker of an idle job. Both
 * are read from /proc over the same 30 s, beside a Node that does nothing. The first seconds of each process are left out.
 */
import { launch, untilRunning } from '../jobs.mjs';
import { cpuMs, isProc, memoryMb, pssMb, wakeups } from '../proc.mjs';
import { median, sleep } from '../timing.mjs';

const windowMs = 30_000;
const startUpMs = 4000;
let seen;

export const idleWaitRow = {
  name: 'idle-wait',
  title: 'a `wait` that idles 30 s, after its start-up',
  async measure(lab, plan) {
    if (!isProc) return { skipped: 'needs /proc' };
    const { waits, bare } = await watch(lab, plan);
    const cpu = median(waits.map((one) => one.cpuMs));
    const main = median(waits.map((one) => one.main));
    return [
      {
        what: idleWaitRow.title,
        ours: `${cpu.toFixed(1)} ms CPU, ${main} wakeups`,
        reference: `idle Node: ${bare.cpuMs.toFixed(1)} ms CPU, ${bare.main} wakeups`,
        bar: 'at most 10 ms CPU, no polling faster than 1 Hz',
        isOk: cpu <= 10 && main <= windowMs / 1000,
        notes: [
          `${waits.length} waits; wakeups of the main thread, of all threads ${median(waits.map((one) => one.all))}`,
          `memory of a wait: ${median(waits.map((one) => one.rss)).toFixed(1)} MB RSS, ${median(waits.map((one) => one.pss)).toFixed(1)} MB PSS`,
        ],
      },
    ];
  },
};

export const idleWorkerRow = {
  name: 'idle-worker',
  title: 'the worker of an idle job, over 30 s',
  async measure(lab, plan) {
    if (!isProc) return { skipped: 'needs /proc' };
    const { workers, bare } = await watch(lab, plan);
    const rss = median(workers.map((one) => one.rss));
    const percent = median(workers.map((one) => (one.cpuMs / windowMs) * 100));
    return [
      {
        what: idleWorkerRow.title,
        ours: `${rss.toFixed(1)} MB RSS, ${percent.toFixed(3)} % CPU`,
        reference: `idle Node: ${bare.rss.toFixed(1)} MB RSS, ${((bare.cpuMs / windowMs) * 100).toFixed(3)} % CPU`,
        ratio: rss / bare.rss,
        bar: 'at most 50 MB RSS, at most 0.2 % CPU',
        isOk: rss <= 50 && percent <= 0.2,
        notes: [
          `${workers.length} workers; ${median(workers.map((one) => one.cpuMs)).toFixed(1)} ms CPU and ${median(workers.map((one) => one.main))} wakeups each; ${median(workers.map((one) => one.pss)).toFixed(1)} MB PSS`,
        ],
      },
    ];
  },
};

/** One stretch of 30 s serves both rows. */
async function watch(lab, { isQuick }) {
  seen ??= await look(lab, isQuick ? 1 : 3);
  return seen;
}

async function look(lab, count) {
  const state = lab.newFolder('idle');
  const pids = { waits: [], workers: [], bare: [] };
  const waiting = [];
  for (let n = 0; n < count; n += 1) {
    const { id } = launch(lab, state, ['sleep', '300']);
    pids.workers.push((await untilRunning(state, id)).worker.pid);
    const wait = lab.start(lab.ours(state, 'wait', id, '--timeout', '5m'));
    waiting.push(wait);
    pids.waits.push(wait.pid);
  }
  const bare = lab.start([process.execPath, '-e', 'setInterval(() => {}, 1e9)']);
  pids.bare.push(bare.pid);
  await sleep(startUpMs);
  const before = Object.values(pids).flat().map(read);
  await sleep(windowMs);
  const after = new Map(
    Object.values(pids)
      .flat()
      .map((pid) => [pid, read(pid)]),
  );
  const facts = (pid) => {
    const [first, last] = [before.find((one) => one.pid === pid), after.get(pid)];
    if (last.rss === undefined) throw new Error(`process ${pid} ended in its idle time`);
    return { ...last, cpuMs: last.cpuMs - first.cpuMs, main: last.main - first.main, all: last.all - first.all };
  };
  const result = { waits: pids.waits.map(facts), workers: pids.workers.map(facts), bare: facts(bare.pid) };
  bare.child.kill('SIGKILL');
  for (const wait of waiting) wait.child.kill('SIGKILL');
  return result;
}

function read(pid) {
  return { pid, cpuMs: cpuMs(pid), ...wakeups(pid), rss: memoryMb(pid, 'VmRSS'), pss: pssMb(pid) };
}
