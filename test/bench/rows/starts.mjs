/** What a caller waits for: the return of a launch, a look at a state folder with 1,000 finished jobs, and what a hook costs there. */
import { existsSync, writeFileSync } from 'node:fs';
import { fillWithFinished, jobFile, launch, settle } from '../jobs.mjs';
import { ratioLine } from '../report.mjs';
import { interleave, median, quantile } from '../timing.mjs';

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

export const hookRow = {
  name: 'hook',
  title: '`hook claude Stop`, 1,000 finished jobs in the folder, three of them live',
  async measure(lab, { isQuick }) {
    const { state, ids } = await fill(lab);
    const live = [0, 1, 2].map(() => launch(lab, state, ['sleep', '600']).id);
    // Nothing to name: then all of them are looked at.
    for (const id of ids) writeFileSync(jobFile(state, id, 'collected.json'), '{}\n');
    const ours = lab.ours(state, 'hook', 'claude', 'Stop');
    const said = lab.time(ours).stdout;
    if (!said.includes('not safe')) throw new Error(`the hook said ${said}`);
    const samples = await interleave(isQuick ? 10 : 40, { ours: () => lab.time(ours).ms, node: () => nodeStart(lab) });
    for (const id of live) lab.time(lab.ours(state, 'cancel', id));
    const most = quantile(samples.ours, 0.95);
    return [
      {
        what: hookRow.title,
        ours: `${median(samples.ours).toFixed(1)} ms, 95 % within ${most.toFixed(1)} ms`,
        reference: `\`node -e 0\`: ${median(samples.node).toFixed(1)} ms`,
        ratio: median(samples.ours) / median(samples.node),
        bar: '95 % within 200 ms',
        isOk: most <= 200,
      },
    ];
  },
};

let filled;

async function fill(lab) {
  if (!filled) {
    const state = lab.newFolder('thousand');
    filled = { state, ids: await fillWithFinished(lab, state, 1000) };
  }
  if (filled.ids.length !== 1000) throw new Error(`${filled.ids.length} jobs in the folder, not 1,000`);
  return filled;
}

async function look(lab, { isQuick }, what, wordsFor) {
  const { state, ids } = await fill(lab);
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
