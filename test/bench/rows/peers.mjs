/** The other tools, where they are installed: nq and task-spooler on PATH, bgproc from npm in a folder that is thrown away. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { launch, settle } from '../jobs.mjs';
import { interleave, makeWallClock, stampMs } from '../timing.mjs';
import { lastWords } from './wait.mjs';

const bgprocVersion = '0.3.0';

export const peersRow = {
  name: 'peers',
  title: 'launch beside other tools',
  async measure(lab, { isQuick }) {
    const state = lab.newFolder('peers');
    const ours = async () => {
      const { id, ms } = launch(lab, state, ['true']);
      await settle(state, id);
      return ms;
    };
    const samples = await interleave(isQuick ? 8 : 30, { ours, ...launchPeers(lab) }, 2);
    const lines = Object.entries(samples).map(([name, times]) => ({
      peer: name === 'ours' ? 'job-companion' : name,
      measure: 'launch',
      times,
    }));
    const missing = ['nq', 'tsp']
      .filter((name) => !isInstalled(name))
      .map((name) => ({ peer: name, missing: 'not installed' }));
    const bgproc = findBgproc(lab);
    if (bgproc.missing) missing.push({ peer: 'bgproc', missing: bgproc.missing });
    return [...lines, ...missing];
  },
};

function launchPeers(lab) {
  const measures = {};
  if (isInstalled('nq')) measures.nq = () => lab.time(['nq', '-q', 'true']).ms;
  if (isInstalled('tsp')) measures.tsp = () => timeTsp(lab);
  const { program } = findBgproc(lab);
  if (program) measures.bgproc = () => lab.time([...program, 'start', '-n', 'x', '-f', '--', 'true']).ms;
  return measures;
}

/** Their own ways to wait, for the row of `wait`. bgproc has none. */
export function waitPeers(lab) {
  const measures = {};
  if (isInstalled('nq')) {
    measures.nq = async () => {
      const id = lab.time(['nq', 'sh', '-c', lastWords]).stdout.trim();
      return timeWait(lab, ['nq', '-w', id], () => {
        const text = lab.time(['cat', join(lab.env.NQDIR, id)]).stdout;
        return /\d{19}/.exec(text)?.[0] ?? '';
      });
    };
  }
  if (isInstalled('tsp')) {
    endTspAtEnd(lab);
    measures.tsp = async () => {
      const id = lab.time(['tsp', 'sh', '-c', lastWords]).stdout.trim();
      return timeWait(lab, ['tsp', '-w', id], () => lab.time(['tsp', '-c', id]).stdout);
    };
  }
  return measures;
}

async function timeWait(lab, words, readStamp) {
  const wait = lab.start(words);
  const now = makeWallClock();
  await wait.exit;
  const exited = now();
  return exited - stampMs(readStamp());
}

function timeTsp(lab) {
  endTspAtEnd(lab);
  return lab.time(['tsp', 'true']).ms;
}

let willEndTsp = false;

function endTspAtEnd(lab) {
  if (willEndTsp) return;
  willEndTsp = true;
  lab.atEnd(() => spawnSync('tsp', ['-K'], { env: lab.env }));
}

function isInstalled(name) {
  return (process.env.PATH ?? '').split(':').some((folder) => folder !== '' && existsSync(join(folder, name)));
}

let bgproc;

/** `program` are the words that start it; `missing` says why there is none. npm keeps the caller's environment: it may need a proxy. */
export function findBgproc(lab) {
  bgproc ??= installBgproc(lab);
  return bgproc;
}

function installBgproc(lab) {
  const folder = lab.newFolder('bgproc');
  const words = [
    'install',
    '--prefix',
    folder,
    '--cache',
    join(folder, 'cache'),
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-save',
  ];
  const result = spawnSync('npm', [...words, `bgproc@${bgprocVersion}`], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const file = join(folder, 'node_modules', 'bgproc', 'dist', 'cli.mjs');
  rmSync(join(folder, 'cache'), { recursive: true, force: true });
  if (result.status === 0 && existsSync(file)) return { program: [process.execPath, file] };
  return { missing: 'not installed (npm could not bring it)' };
}
