// What the unattended loop does at each step, really: through our own program (loop-cli.ts), and by waiting for jobs as a watch does, so
// that nothing is started for hours of waiting.
import { findBackend } from '../backends/registry.ts';
import { excerpt, plainText } from '../core/excerpt.ts';
import { isId } from '../core/ids.ts';
import type { LoopPart, LoopState } from '../core/job.ts';
import { leaseMs } from '../core/limits.ts';
import { isContinuable } from '../jobs/continuable.ts';
import { makeNap } from '../jobs/nap.ts';
import { refreshAttached } from '../jobs/reconcile.ts';
import { inspect, isEnded, type View } from '../jobs/view.ts';
import { isOver } from '../jobs/writers.ts';
import { milestoneBrief } from '../loop/brief.ts';
import { evaluate } from '../loop/evaluate.ts';
import { changeLoop, editedFault, lockLoop, readLoop } from '../loop/files.ts';
import { parseEntries, readJournal, remediationNote } from '../loop/journal.ts';
import { digestOf } from '../loop/judge.ts';
import { judgePrompt, judgmentOf } from '../loop/judge-prompt.ts';
import type { LoopPlace } from '../loop/place.ts';
import type { Position } from '../loop/position.ts';
import { type Hands, LoopRefusal } from '../loop/steps.ts';
import { stopLoop } from '../loop/stopping.ts';
import { verifyWork } from '../loop/verify-work.ts';
import { nowMs, sleep } from '../platform/clock.ts';
import { watchFifo } from '../platform/fifo.ts';
import { readText, writeFile } from '../platform/files.ts';
import { exists } from '../platform/folders.ts';
import { jobPaths } from '../store/layout.ts';
import type { Claim } from './claim.ts';
import { makeCli, refusalOf } from './loop-cli.ts';

const judgeBytes = 256 * 1024;
/** A look at a job whose end nothing told us of; the first few come sooner. */
const lookMs = 6 * leaseMs;
const quickLooks = 5;

export function makeHands(claim: Claim, part: LoopPart, place: LoopPlace, signal: AbortSignal): Hands {
  const { root } = claim;
  const { id } = claim.spec;
  const { cli, environment } = makeCli(claim, part.folder);
  /** One of our own verbs, and what it printed; a refusal ends the loop. */
  const call = async (words: string[], what: string, input?: string): Promise<string> => {
    const answer = await cli({ words, signal, ...(input === undefined ? {} : { input }) });
    signal.throwIfAborted();
    if (answer.how === 'exited' && answer.code === 0) return String(answer.stdout);
    throw new LoopRefusal('exit_nonzero', `cannot ${what}: ${refusalOf(answer)}`);
  };
  const launch = async (words: string[], what: string, input?: string): Promise<string> => {
    const printed = (await call([...words, '--id-only'], what, input)).trim();
    if (!isId(printed)) throw new LoopRefusal('exit_nonzero', `cannot ${what}: no job id was printed`);
    return printed;
  };
  const questionsNow = async () => {
    const { questions } = await evaluate(place, { runCommands: false, environment: {}, exclude: [id], signal });
    return { questions, digest: digestOf(place, questions) };
  };
  /** No usable answer leaves the questions open, and the gate says so. */
  const answersOf = async (judge: string, digest: string | null): Promise<string[]> => {
    const { state, paths } = await untilEnd(root, judge, signal);
    await cli({ words: ['wait', judge, '--json', '--timeout', '1s'], signal });
    const now = await questionsNow();
    if (state.state !== 'done' || now.digest !== digest) return [];
    const text = judgmentOf(readText(paths.result, judgeBytes) ?? '', now.digest, now.questions);
    if (text === undefined) return [];
    const file = `${claim.paths.folder}/judgment.json`;
    writeFile(file, text);
    return ['--judge', file];
  };
  const key = ({ iteration, milestone, round }: Position, what: string): string[] => [
    '--once-key',
    ['loop', id, iteration, milestone ?? 'end', what, round].join(':'),
  ];

  return {
    id,
    nowMs,
    state: () => currentState(place),

    async take(milestone) {
      await takeOver(place, root, id, milestone);
      const { current } = currentState(place);
      if (current?.milestone === milestone && current.owner === id) return;
      await call(['loop', 'start', '--milestone', milestone, '--owner', id], `begin milestone ${milestone}`);
    },

    brief: (state, milestone) => {
      const found = state.milestones.find((one) => one.id === milestone);
      if (!found) throw new LoopRefusal('state_damaged', `the loop has no milestone ${milestone} any more`);
      return milestoneBrief(state, found, { commits: 'checkpoint' });
    },

    async launchStaff(position) {
      const parent = position.step === 'remediate' ? position.parent : null;
      const goesOn = parent !== null && canGoOn(root, parent);
      const verb = goesOn ? ['continue', '--job', parent] : ['implement', ...staffOptions(part)];
      const milestone = position.milestone === null ? [] : ['--milestone', position.milestone];
      // Without a conversation to go on in, whoever mends it has to be told everything.
      const text =
        goesOn || position.step === 'execute'
          ? position.prompt
          : `${this.brief(currentState(place), position.milestone ?? '')}\n${position.prompt}`;
      const words = [...verb, ...milestone, '--stdin', '--timeout', `${part.staff_ms}ms`];
      return launch([...words, ...key(position, position.step)], 'start the staff job', text ?? '');
    },

    async staffEnd(job) {
      const { state } = await untilEnd(root, job, signal);
      // Collected: nobody has to look after it any more.
      await cli({ words: ['wait', job, '--json', '--timeout', '1s'], signal });
      const isDone = state.state === 'done';
      return { id: job, isDone, error: state.error, isCanceled: state.state === 'canceled' };
    },

    verify: () => verifyWork(place, environment, signal),

    async checkpoint(position) {
      // What was begun by a worker that was killed is finished first.
      await lockLoop(place, () => undefined);
      const now = currentState(place);
      if (position.isCommitted ? isMended(place, now) : now.iteration > position.iteration) return;
      const title = now.milestones.find((one) => one.id === position.milestone)?.title ?? '';
      const prefix = position.isCommitted ? 'fix' : 'feat';
      const words = ['loop', 'checkpoint', '--owner', id, ...(position.isCommitted ? ['--fix'] : [])];
      words.push('--message', `${prefix}(${position.milestone}): ${subject(title)}`);
      for (const text of didOf(position)) words.push('--did', text);
      for (const text of position.verified) words.push('--verified', text);
      await call(words, 'make the checkpoint');
    },

    async launchJudge(position) {
      const { questions, digest } = await questionsNow();
      const [first] = questions;
      if (!first) return null;
      const backend = part.judge_backend === null ? [] : ['--backend', part.judge_backend];
      // A program of the user's config cannot be restricted; it was named for this.
      const profile = part.judge_backend !== null && !findBackend(part.judge_backend) ? 'standard' : 'restricted';
      const words = ['ask', ...backend, '--profile', profile, '--stdin', '--timeout', `${part.staff_ms}ms`];
      const once = key(position, `judge:${digest}`);
      return { judge: await launch([...words, ...once], 'ask the judge', judgePrompt(questions)), digest };
    },

    async launchGate(position) {
      const answers = position.judge === null ? [] : await answersOf(position.judge, position.digest);
      return launch(['loop', 'gate', '--repair', ...answers, ...key(position, 'gate')], 'ask the gate');
    },

    async gateEnd(job) {
      const { state } = await untilEnd(root, job, signal);
      await cli({ words: ['wait', job, '--json', '--timeout', '1s'], signal });
      const message = state.error ? `${state.error.code}: ${state.error.message}` : state.state;
      return { id: job, report: state.gate ?? null, message };
    },

    stop: (reason, detail) => stopLoop(place, reason, detail),

    async sleepUntil(wallMs) {
      const nap = makeNap<'never'>(signal);
      for (let rest = wallMs - nowMs(); rest > 0 && !signal.aborted; rest = wallMs - nowMs())
        await nap.sleep(Math.min(rest, 60_000));
      signal.throwIfAborted();
    },
  };
}

/** Of a worker that was killed: what it printed last is in the state. */
function currentState(place: LoopPlace): LoopState {
  const read = readLoop(place);
  if (read.kind === 'none') throw new LoopRefusal('state_damaged', `there is no ${place.folder} any more`);
  if (read.kind === 'damaged') throw new LoopRefusal('state_damaged', read.faults.join('; '));
  if (read.isEdited) throw new LoopRefusal('state_damaged', editedFault(place).message);
  return read.state;
}

/** The milestone of an earlier loop job that ended in the middle of it. Whoever else holds it keeps it: `loop start` says who. */
async function takeOver(place: LoopPlace, root: string, id: string, milestone: string): Promise<void> {
  const isLost = ({ current }: LoopState): boolean => {
    const owner = current?.owner ?? null;
    const isLoop = owner !== null && owner !== id && isId(owner) && owner.startsWith('loop-');
    return current?.milestone === milestone && isLoop && (!exists(jobPaths(root, owner).folder) || isOver(root, owner));
  };
  if (!isLost(currentState(place))) return;
  await changeLoop(place, (state) =>
    isLost(state) && state.current ? { ...state, current: { ...state.current, owner: id, job: id } } : state,
  );
}

/** Looked at again and again, beside the sign that its worker gives by its end; a worker of it that was lost is replaced. */
async function untilEnd(root: string, job: string, signal: AbortSignal): Promise<View> {
  for (let looks = 0; ; looks += 1) {
    const nap = makeNap<'end'>(signal);
    const close = await watchFifo(jobPaths(root, job).leaseFifo, () => nap.ring('end'));
    try {
      signal.throwIfAborted();
      const view = await refreshAttached(root, job);
      if (isEnded(view.state) || view.damage !== null) return view;
      // A worker that has just begun may not hold its sign yet, and then it never rings.
      await nap.sleep(looks < quickLooks ? 1000 : close ? lookMs : leaseMs);
      // Between the sign and the end that is published lies a moment.
      if (isEnded(inspect(root, job).state)) return inspect(root, job);
      await sleep(1000);
    } finally {
      close?.();
    }
  }
}

/** The fix of this very NO-GO was committed already, by a worker that was killed before it could say so. */
function isMended(place: LoopPlace, { iteration, remediation_rounds }: LoopState): boolean {
  const note = remediationNote(remediation_rounds);
  return parseEntries(readJournal(place.journal) ?? '').some(
    (entry) => entry.iteration === iteration && entry.note === note,
  );
}

/** A conversation that can be gone on with; else a new agent gets the whole brief. */
function canGoOn(root: string, job: string): boolean {
  const { paths, state } = inspect(root, job);
  return isContinuable(paths, state);
}

function staffOptions({ backend, model, profile }: LoopPart): string[] {
  const given = Object.entries({ backend, model, profile }).filter(([, value]) => value !== null);
  return given.flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** A subject line: one line, 72 characters with its prefix at most. */
function subject(title: string): string {
  return excerpt(plainText(title).replace(/\s+/g, ' ').trim() || 'as planned', 50);
}

function didOf({ milestone, jobs, round }: Position): string[] {
  const mended = round > 0 ? `, ${round} round${round === 1 ? '' : 's'} of mending` : '';
  return [
    `milestone ${milestone} by ${jobs.length} staff job${jobs.length === 1 ? '' : 's'}: ${jobs.join(', ')}${mended}`,
  ];
}
