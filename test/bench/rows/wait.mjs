/** How fast a pending `wait` learns of things: the end of its job, and the loss of the worker. */
import { readFileSync } from 'node:fs';
import { jobFile, launch, readRecord, settle, untilRunning } from '../jobs.mjs';
import { timesLine } from '../report.mjs';
import { interleave, makeWallClock, median, quantile, sleep, stamp, stampMs, until } from '../timing.mjs';
import { waitPeers } from './peers.mjs';

/** The job's last statement tells the time; long enough before, everybody has come to rest. */
const restS = 0.8;
export const lastWords = `sleep ${restS}; exec ${stamp}`;

export const waitExitRow = {
  name: 'wait-exit',
  title: "job's last statement to `wait`'s exit",
  async measure(lab, { isQuick }) {
    if (!stamp) return { skipped: 'no program here prints nanoseconds (GNU date, perl)' };
    const state = lab.newFolder('wait-exit');
    let unreadable = 0;
    const ours = async () => {
      const { id } = launch(lab, state, ['sh', '-c', lastWords]);
      const wait = lab.start(lab.ours(state, 'wait', id));
      const now = makeWallClock();
      const { code } = await wait.exit;
      const exited = now();
      // Read before anything else happens: the record must be whole at this very moment.
      const isReadable =
        isStamp(readFileSync(jobFile(state, id, 'result.md'), 'utf8')) &&
        readRecord(state, id, 'state.json')?.state === 'done';
      await wait.close;
      if (code !== 0) throw new Error(`wait gave ${code}: ${wait.text.stderr}`);
      if (!isReadable || !isStamp(wait.text.stdout)) unreadable += 1;
      await settle(state, id);
      return exited - stampMs(wait.text.stdout);
    };
    const samples = await interleave(isQuick ? 8 : 30, { ours, shell: () => shellWait(lab), ...waitPeers(lab) });
    const notes = [`result not readable at that moment: ${unreadable} of ${samples.ours.length + 1} times`];
    notes.push(`95th percentile: ours ${quantile(samples.ours, 0.95).toFixed(1)} ms`);
    const line = timesLine({
      what: waitExitRow.title,
      ours: samples.ours,
      reference: samples.shell,
      referenceName: '`sh` waiting for its own child',
      bar: 'median at most 20 ms, result readable',
      isOk: median(samples.ours) <= 20 && unreadable === 0,
      notes,
    });
    const peers = Object.entries(samples).filter(([name]) => !['ours', 'shell'].includes(name));
    return [line, ...peers.map(([name, times]) => ({ peer: name, measure: 'wait', times }))];
  },
};

/** The floor: a shell that waits for its own child, started and timed in the same way. */
async function shellWait(lab) {
  const shell = lab.start(['/bin/sh', '-c', `(${lastWords}) & wait $!`]);
  const now = makeWallClock();
  await shell.exit;
  const exited = now();
  await shell.close;
  return exited - stampMs(shell.text.stdout);
}

const isStamp = (text) => /^\d{19}\n$/.test(text);

export const workerLossRow = {
  name: 'worker-loss',
  title: 'loss of the worker (`kill -9`) seen by a pending `wait`',
  async measure(lab, { isQuick }) {
    const state = lab.newFolder('worker-loss');
    const claimed = [];
    const { ours } = await interleave(isQuick ? 5 : 15, {
      ours: async () => {
        const { id } = launch(lab, state, ['sleep', '60']);
        const wait = lab.start(lab.ours(state, 'wait', id));
        const first = await untilRunning(state, id);
        await sleep(700);
        const launched = readRecord(state, id, 'launch.json');
        const begun = performance.now();
        process.kill(first.worker.pid, 'SIGKILL');
        await until(
          () => readRecord(state, id, 'launch.json')?.generation > launched.generation,
          `no new worker for ${id}`,
          20_000,
          1,
        );
        const ms = performance.now() - begun;
        await until(
          () => readRecord(state, id, 'worker.json')?.worker.pid !== first.worker.pid,
          `the new worker of ${id} does not claim it`,
          20_000,
          1,
        );
        claimed.push(performance.now() - begun);
        lab.time(lab.ours(state, 'cancel', id));
        await wait.exit;
        await settle(state, id);
        return ms;
      },
    });
    return [
      timesLine({
        what: workerLossRow.title,
        ours: ours,
        bar: 'at most 250 ms',
        isOk: Math.max(...ours) <= 250,
        notes: [
          `until launch.json names a new worker; slowest of ${ours.length}: ${Math.max(...ours).toFixed(0)} ms`,
          `the new worker has claimed the job after ${median(claimed).toFixed(0)} ms`,
        ],
      }),
    ];
  },
};
