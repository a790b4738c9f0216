/** 200 launches, 16 at a time: is each job there, with its own result, and how long until all are over? Against bgproc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idPattern, jobFile, readRecord } from '../jobs.mjs';
import { timesLine } from '../report.mjs';
import { interleave, median, until } from '../timing.mjs';
import { findBgproc } from './peers.mjs';

const count = 200;
const atATime = 16;

export const manyRow = {
  name: 'many',
  title: `${count} launches, ${atATime} at a time, until all are settled`,
  async measure(lab, { isQuick }) {
    const bgproc = findBgproc(lab);
    const faults = [];
    const returned = [];
    let listed = [];
    const measures = {
      ours: async () => {
        const { ms, returnedMs, fault } = await launchAll(lab);
        returned.push(returnedMs);
        if (fault && !faults.includes(fault)) faults.push(fault);
        return ms;
      },
    };
    if (bgproc.program) {
      measures.bgproc = async () => {
        const round = await startAll(lab, bgproc.program);
        listed.push(round.listed);
        return round.ms;
      };
    }
    const { ours, bgproc: theirs } = await interleave(isQuick ? 1 : 3, measures, 0);
    listed = listed.sort((a, b) => a - b);
    const notes = [
      faults.length === 0
        ? `none lost, every one settled with its own result, in ${ours.length} round(s)`
        : faults.join('; '),
      `all launches had returned after ${(median(returned) / 1000).toFixed(1)} s`,
    ];
    if (theirs) notes.push(`bgproc lists ${listed.join(', ')} of ${count} afterwards`);
    else notes.push(`bgproc: ${bgproc.missing}`);
    return [
      timesLine({
        what: manyRow.title,
        ours,
        reference: theirs,
        referenceName: theirs ? 'bgproc, until its launches returned' : `bgproc: ${bgproc.missing}`,
        unit: 's',
        bar: 'none lost, all settled; wall at most that of bgproc',
        isOk: faults.length > 0 ? false : theirs ? median(ours) <= median(theirs) : undefined,
        notes,
      }),
    ];
  },
};

async function launchAll(lab) {
  // Not there yet: sixteen launchers make it together.
  const state = join(lab.newFolder('many'), 'state');
  const begun = performance.now();
  const ids = await pool(async (n) => {
    const run = lab.start(lab.ours(state, 'run', '--id-only', '--', 'echo', String(n)));
    const { code } = await run.exit;
    await run.close;
    return code === 0 ? run.text.stdout.trim() : `exit ${code}: ${run.text.stderr.trim().split('\n')[0]}`;
  });
  const returnedMs = performance.now() - begun;
  await until(() => readdirSync(join(state, 'active')).length === 0, 'the jobs do not end', 120_000, 10);
  const ms = performance.now() - begun;
  return { ms, returnedMs, fault: faultOf(lab, state, ids) };
}

/** Every id once, every record `done`, every result the number that this job was given, every job listed. */
function faultOf(lab, state, ids) {
  const failed = ids.find((id) => !idPattern.test(id));
  if (failed !== undefined) return `a launch failed: ${failed}`;
  if (new Set(ids).size !== count) return `${new Set(ids).size} different ids for ${count} launches`;
  const wrong = ids.filter((id, n) => {
    const isSettled =
      readRecord(state, id, 'state.json')?.state === 'done' && existsSync(jobFile(state, id, 'result.md'));
    return !isSettled || readFileSync(jobFile(state, id, 'result.md'), 'utf8') !== `${n}\n`;
  });
  if (wrong.length > 0) return `${wrong.length} jobs lost or not settled, the first is ${wrong[0]}`;
  const { jobs } = JSON.parse(lab.time(lab.ours(state, 'status', '--json', '--recent', '1000')).stdout);
  return jobs.length === count ? undefined : `status lists ${jobs.length} of ${count}`;
}

async function startAll(lab, program) {
  const env = { ...lab.env, BGPROC_DATA_DIR: lab.newFolder('bgproc-data') };
  const begun = performance.now();
  await pool(async (n) => {
    const start = lab.start([...program, 'start', '-n', `x${n}`, '-f', '--', 'true'], { env });
    await start.exit;
    await start.close;
  });
  const ms = performance.now() - begun;
  const list = lab.start([...program, 'list'], { env });
  await list.close;
  return { ms, listed: (list.text.stdout.match(/"name"/g) ?? []).length };
}

async function pool(run) {
  const results = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      results[n] = await run(n);
    }
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  return results;
}
