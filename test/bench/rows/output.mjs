/**
 * 1 GB of output, against the same writer on a plain `>file` of the same disk. The writer is `dd` with blocks of 128 KiB from
 * /dev/zero (the size that `cat` uses): it reads no disk and is faster than any disk. It takes the time itself, around the writing,
 * so that no start is in the figure.
 */
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { jobFile, launch, readRecord, settle } from '../jobs.mjs';
import { isProc, memoryMb } from '../proc.mjs';
import { spread } from '../report.mjs';
import { interleave, median, sleep, stamp, stampMs } from '../timing.mjs';

const gigabyte = 2 ** 30;
const capBytes = 64 * 2 ** 20;
const writer = `dd if=/dev/zero bs=131072 count=${gigabyte / 131072} 2>/dev/null`;

export const outputRow = {
  name: 'output',
  title: '1 GB of output',
  async measure(lab, { isQuick }) {
    if (!stamp) return { skipped: 'no program here prints nanoseconds (GNU date, perl)' };
    const looks = [];
    const samples = await interleave(isQuick ? 3 : 9, {
      ours: async () => {
        const look = await runOurs(lab);
        looks.push(look);
        return look.ms;
      },
      plain: () => runPlain(lab),
    });
    const [ours, plain] = [median(samples.ours), median(samples.plain)];
    const most = (name) => Math.max(...looks.map((one) => one[name]));
    const faults = [...new Set(looks.flatMap((one) => one.faults))];
    const worker = isProc ? `${most('workerMb').toFixed(0)} MB worker, ` : '';
    const isSmall = !isProc || most('workerMb') < 100;
    const line = {
      what: outputRow.title,
      ours: `${speed(ours)}, ${worker}${mb(most('allocated'))} MB on disk`,
      reference: `plain \`>file\`: ${speed(plain)}`,
      ratio: plain / ours,
      bar: 'at least 0.9 x the speed; worker under 100 MB; file under its cap (64 MB)',
      isOk: plain / ours >= 0.9 && isSmall && most('allocated') <= capBytes && faults.length === 0,
      notes: [
        `writer: \`dd if=/dev/zero bs=131072\`, timed by the job itself around the writing; ${spread(samples.ours)}; reference ${spread(samples.plain)}`,
        `most blocks allocated while it wrote, as seen every 3 ms: ${mb(most('peak'))} MB`,
        ...(isProc ? [] : ['memory of the worker: not measured, needs /proc']),
        ...faults,
      ],
    };
    return [line];
  },
};

async function runOurs(lab) {
  comeToRest(lab);
  const state = lab.newFolder('output');
  const times = join(state, 'times');
  const { id } = launch(lab, state, ['sh', '-c', timed(writer, times)]);
  const output = jobFile(state, id, 'output.log');
  let [workerMb, peak] = [0, 0];
  while (existsSync(join(state, 'active', id))) {
    peak = Math.max(peak, blocks(output));
    const pid = readRecord(state, id, 'launch.json')?.worker.pid;
    if (isProc && pid) workerMb = Math.max(workerMb, memoryMb(pid, 'VmHWM') ?? 0);
    await sleep(3);
  }
  await settle(state, id);
  const record = readRecord(state, id, 'state.json');
  const faults = [];
  if (record?.state !== 'done') faults.push(`the job is ${record?.state}`);
  const { bytes, omitted } = record?.output.stdout ?? {};
  if (bytes !== gigabyte) faults.push(`${bytes} bytes told, not ${gigabyte}`);
  if (!(omitted > 0)) faults.push('no omitted bytes told');
  const look = { ms: span(times), workerMb, peak, allocated: blocks(output), faults };
  rmSync(jobFile(state, id), { recursive: true });
  return look;
}

async function runPlain(lab) {
  comeToRest(lab);
  const folder = lab.newFolder('plain');
  const times = join(folder, 'times');
  lab.time(['/bin/sh', '-c', timed(`${writer} >${folder}/output.log`, times)]);
  rmSync(`${folder}/output.log`);
  return span(times);
}

/** Nothing of an earlier round is left to be written while this one is timed. */
function comeToRest(lab) {
  lab.time(['sync']);
}

function timed(words, file) {
  return `${stamp} >${file}.a; ${words}; ${stamp} >${file}.b`;
}

function span(file) {
  return stampMs(readFileSync(`${file}.b`, 'utf8')) - stampMs(readFileSync(`${file}.a`, 'utf8'));
}

function blocks(file) {
  return (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
}

const speed = (ms) => `${(gigabyte / 2 ** 20 / (ms / 1000)).toFixed(0)} MB/s`;
const mb = (bytes) => (bytes / 2 ** 20).toFixed(0);
