// `loop gate`: is this boundary good? A job of its own, so that a long suite outlives whoever asked; its answer is waited for here.
import path from 'node:path';
import { FaultError, usageError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { limits } from '../../core/limits.ts';
import type { GateReport } from '../../core/loop.ts';
import { launch } from '../../jobs/launch.ts';
import { nextCommands } from '../../jobs/next-commands.ts';
import { withRegistration } from '../../jobs/registration.ts';
import { inspect } from '../../jobs/view.ts';
import { waitForJobs } from '../../jobs/wait.ts';
import { evaluate } from '../../loop/evaluate.ts';
import { loopCommand, readLoop, requireLoop } from '../../loop/files.ts';
import { gateCode, gateText } from '../../loop/gate-words.ts';
import { digestOf, readJudgment } from '../../loop/judge.ts';
import { liveLoopJob } from '../../loop/live.ts';
import { checkLoopFolder, type LoopPlace, loopPlace } from '../../loop/place.ts';
import { requireTrust } from '../../loop/trust.ts';
import { realPath } from '../../platform/folders.ts';
import type { Command, Context, Reply } from '../command.ts';
import { checkLaunchOptions, launchWords, tellLaunched } from '../launching.ts';
import { notifyOf } from '../notifying.ts';
import { launchOptions } from '../options.ts';
import type { Parsed } from '../parse.ts';

export const gate: Command = {
  name: 'loop gate',
  summary: 'is this boundary good? 2 GO, 0 finished, 3 NO-GO or a limit, 4 stop',
  form: '[options]',
  words: { min: 0, max: 0 },
  options: {
    judge: { kind: 'text', value: 'FILE', help: 'answers to the questions that need judgment (JSON, see notes)' },
    'judge-backend': {
      kind: 'text',
      value: 'NAME',
      help: 'agent CLI that answers them first, restricted; its answer is data',
    },
    repair: { kind: 'flag', help: 'mend the loop files when they are all that is wrong; nothing else is touched' },
    timeout: { kind: 'duration', value: 'D', range: limits.runTimeout, help: 'hard limit of the gate (default 24h)' },
    ...launchOptions,
  },
  notes:
    'Runs the verify commands of the loop (after loop trust), looks at the tree, the journal, the handoff and the jobs of the loop, and counts: the third NO-GO of an ' +
    'iteration stops the loop, as does the same failure in three iterations. It is a job: wait, observe, result and cancel work on it. --judge FILE: ' +
    '{"for": DIGEST, "answers": {"E1": {"holds": true, "why": "..."}}}, with the digest that the gate prints.',
  examples: ['loop gate', 'loop gate --json', 'loop gate --judge answers.json --repair'],

  async run(context, input) {
    checkLaunchOptions(input);
    const root = context.root(input);
    const place = loopPlace(context.cwd, root);
    // Nothing can be run, counted or asked: the answer is there at once.
    if (checkLoopFolder(place) && readLoop(place).kind === 'damaged') return damaged(input, place);
    requireTrust(place, requireLoop(place));
    const words = launchWords(input);
    // Before a judge is paid for.
    requireAlone(place, words.owner);
    const judge = await judgeOf(context, input, place);
    const judgeBackend = input.text('judge-backend') ?? null;
    const launched = await launch(root, {
      kind: 'gate',
      verb: 'gate',
      ...words,
      cwd: realPath(place.worktree),
      deadlineMs: input.durationOrDefault('timeout'),
      killGraceMs: limits.runKillGrace.default,
      maxOutputBytes: limits.maxOutput.default,
      firstOutputMs: null,
      stallMs: null,
      lineage: null,
      run: null,
      staff: null,
      gate: { folder: realPath(place.worktree), judge, judge_backend: judgeBackend, repair: input.has('repair') },
      notify: await notifyOf(context, input, null),
      // Asked where nobody else launches: two gates at once would count one boundary twice.
      admit: async () => {
        requireAlone(place, words.owner);
        return { warnings: [] };
      },
    });
    if (input.has('id-only')) return tellLaunched(context, input, root, launched, false);
    return follow(context, input, place, launched.id);
  },
};

async function damaged(input: Parsed, place: LoopPlace): Promise<Reply> {
  const report = await evaluate(place, { runCommands: false, environment: {} });
  const code = gateCode(report);
  return input.has('json') ? { code, json: { id: null, ...report } } : { code, out: gateText(report, '') };
}

function requireAlone(place: LoopPlace, owner: string | null): void {
  const live = liveLoopJob(place, owner);
  if (live === undefined) return;
  const call = nextCommands.wait(live.id, place.root.option);
  throw new FaultError('busy', `cannot ask the gate: ${live.kind} ${live.id} is at work on this loop`, call);
}

/** Only answers to what is asked now count. */
async function judgeOf(context: Context, input: Parsed, place: LoopPlace) {
  const file = input.text('judge');
  const backend = input.text('judge-backend');
  if (file !== undefined && backend !== undefined) throw usageError('cannot take --judge and --judge-backend together');
  if (file === undefined && backend === undefined) return null;
  const judgment = file === undefined ? null : readJudgment(path.resolve(context.cwd, file));
  const asked = await evaluate(place, { runCommands: false, environment: {} });
  const digest = digestOf(place, asked.questions);
  if (!judgment) return (await import('./judge-call.ts')).askJudge(place, backend ?? '', asked.questions, digest);
  if (judgment.for === digest) return { ...judgment.answers };
  throw new FaultError(
    'preflight',
    `cannot take the judge's answers: they are for ${JSON.stringify(judgment.for.slice(0, 40))}, the questions now are ${digest}`,
    `look at the questions with: ${loopCommand(place, 'check', '--json')}`,
  );
}

async function follow(context: Context, input: Parsed, place: LoopPlace, id: string): Promise<Reply> {
  const { folder, option } = place.root;
  const patience = input.duration('wait-timeout') ?? Number.MAX_SAFE_INTEGER;
  const terms = {
    kind: 'wait' as const,
    mode: 'all' as const,
    until: [],
    timeoutMs: patience,
    owner: input.text('owner'),
    tell: context.tell,
  };
  await withRegistration(folder, [id], terms, () =>
    waitForJobs(folder, [id], { mode: 'all', timeoutMs: patience, heartbeatMs: null, onHeartbeat: () => undefined }),
  );
  const { state } = inspect(folder, id);
  const report = (state.gate ?? null) as GateReport | null;
  if (report) {
    const digest = digestOf(place, report.questions);
    const code = gateCode(report);
    if (input.has('json')) return { code, json: { id, ...report, judge_digest: digest } };
    return { code, out: gateText(report, digest), notes: [`gate ${id}`] };
  }
  const code =
    state.ended_at === null
      ? exitCodes.pending
      : state.state === 'canceled'
        ? exitCodes.canceled
        : exitCodes.unsuccessful;
  const again = nextCommands.wait(id, option);
  return input.has('json')
    ? { code, json: { id, verdict: null, state: state.state, error: state.error } }
    : { code, out: '', notes: [`gate ${id}: ${state.state}`, `collect: ${again}`] };
}
