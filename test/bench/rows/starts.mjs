/** What a caller waits for: the return of a launch, and a look at a state folder with 1,000 finished jobs. */
import { existsSync } from 'node:fs';
import { fillWithFinished, jobFile, launch, settle } from '../jobs.mjs';
import { ratioLine } from '../report.mjs';
import { interleave } from '../timing.mjs';

export const launchRow = {
  name: 'launch',
  title: 'launch returns (record durable, worker exists)',
  async measure(lab, { isQuick }) {
    const state = lab.newFolder('launch');
    const samples = await interleave(isQuick ? 10 : 40, {
      ours: async () => {
        const { id, ms } = launch(lab, state, ['true']);
        for (const name of ['spec.json', 'launch.json'])
          if (!existsSync(jobFile(state, id, name))) throw new Error(`no ${name} after the launch of ${id}`);
        await settle(state, id);
        return ms;
      },
      node: () => nodeStart(lab),
    });
    return [ratioLine({ what: launchRow.title, ours: samples.ours, reference: samples.node, ...bar(1.6) })];
  },
};

export const statusRow = {
  name: 'status',
  title: '`status`, 1,000 finished jobs in the folder',
  measure: (lab, plan) => look(lab, plan, statusRow.title, () => ['status']),
};

export const observeRow = {
  name: 'observe',
  title: '`observe ID`, 1,000 finished jobs in the folder',
  measure: (lab, plan) => look(lab, plan, observeRow.title, (ids) => ['observe', ids[500]]),
};

let filled;

async function look(lab, { isQuick }, what, wordsFor) {
  if (!filled) {
    const state = lab.newFolder('thousand');
    filled = { state, ids: await fillWithFinished(lab, state, 1000) };
  }
  const { state, ids } = filled;
  if (ids.length !== 1000) throw new Error(`${ids.length} jobs in the folder, not 1,000`);
  const words = lab.ours(state, ...wordsFor(ids));
  // The exit code tells the job's state, so 0 is asked of `status`, and 0 or 3 of `observe`.
  const code = codeOf(lab, words);
  const samples = await interleave(isQuick ? 10 : 40, {
    ours: () => lab.time(words, { code }).ms,
    node: () => nodeStart(lab),
  });
  return [ratioLine({ what, ours: samples.ours, reference: samples.node, ...bar(1.5) })];
}

function codeOf(lab, words) {
  for (const code of [0, 3]) {
    try {
      if (lab.time(words, { code }).stdout.length > 0) return code;
    } catch (error) {
      if (code === 3) throw error;
    }
  }
  throw new Error(`${words.slice(2, 4).join(' ')} printed nothing`);
}

export function nodeStart(lab) {
  return lab.time([process.execPath, '-e', '0']).ms;
}

function bar(most) {
  return { referenceName: '`node -e 0`', bar: `at most ${most} x`, isOk: ({ ratio }) => ratio <= most };
}
