// Every number of the product, once: contract 10 (repeated for callers in docs/REFERENCE.md). Times in ms, sizes in bytes.

export * from './limits-github.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const kib = 1024;
const mib = 1024 * kib;

export interface Range {
  default: number;
  min: number;
  max: number;
}

/** So long after its event a state may be written; a worker that died in between never writes it. */
export const stateLagMs = second;
/** An agent that printed something this lately is called `progressing`. */
export const progressingMs = minute;

export const limits = {
  staffTimeout: { default: hour, min: second, max: 2 * hour },
  runTimeout: { default: day, min: 50, max: 30 * day },
  waitTimeout: { default: 100 * second, min: 0, max: Number.MAX_SAFE_INTEGER },
  heartbeat: { default: minute, min: second, max: day },
  staffKillGrace: { default: 10 * second, min: 0, max: 5 * minute },
  runKillGrace: { default: 30 * second, min: 0, max: 5 * minute },
  optInLimit: { default: 5 * minute, min: second, max: 30 * day },
  maxOutput: { default: 64 * mib, min: mib, max: 64 * 1024 * mib },
  checkpoint: { default: hour, min: 100, max: 30 * day },
  /** Of `--checkpoint-every auto`: the longer of its two intervals. */
  checkpointAuto: { default: 5 * minute, min: 500, max: 30 * day },
  sample: { default: minute, min: 100, max: day },
  probe: { default: 30 * second, min: 100, max: 5 * minute },
  expect: { default: hour, min: 1, max: 365 * day },
  watchFor: { default: hour, min: second, max: 365 * day },
  watchEvery: { default: minute, min: second, max: day },
  watchEveryRemote: { default: minute, min: 5 * second, max: day },
  watchAttempt: { default: 30 * second, min: 100, max: 10 * minute },
  watchCount: { default: 1, min: 1, max: 5000 },
  watchSize: { default: 1, min: 1, max: 2 ** 50 },
  watchStable: { default: 10 * second, min: second, max: 30 * day },
  noChecksGrace: { default: 5 * minute, min: 0, max: day },
  watchTolerate: { default: 0, min: 0, max: 100_000 },
  maxLive: { default: 4, min: 1, max: 1000 },
  /** Of staff: two observations of half of it each. */
  quiet: { default: 10 * minute, min: second, max: day },
  rerun: { default: 2 * minute, min: second, max: hour },
  timer: { default: hour, min: second, max: 30 * day },
  redraw: { default: second, min: second, max: hour },
  cleanAge: { default: 14 * day, min: 0, max: 3650 * day },
} satisfies Record<string, Range>;

/** One look at a workspace, git and hashing together; and one comparison of two looks. */
export const captureBudgetMs = 5 * second;
/** One prompt, by any source. */
export const promptBytes = mib;
/** The whole document that `observe` prints. */
export const observeBytes = 8 * kib;
export const toolCalls = 5;
export const toolCallBytes = kib;
export const excerptBytes = 240;
export const textTailBytes = 1700;
export const tailLines = 50;
export const tailBytes = 8 * kib;
export const eventLineBytes = 64 * kib;
/** An agent's stream line above this is skipped (some CLIs repeat whole messages in one line). */
export const streamLineBytes = 32 * mib;

/** After a normal end: time that left-over processes get between TERM and KILL. */
export const drainMs = 2 * second;
/** An agent that stays alive this long after its final event is ended. */
export const lingerMs = 10 * second;
/** How long after KILL a process may take to vanish before it is called a survivor. */
export const killSettleMs = 10 * second;
/** A tree that a settling reader finds without supervision gets this long to obey TERM. */
export const orphanGraceMs = second;
/** The shim strikes this much later than a living worker. */
export const guardDelayMs = second;
export const leaseMs = 5 * second;
export const leaseStaleMs = 20 * second;
/** A job whose launcher is gone and whose worker never appeared is `never_started` after this. */
export const startLimitMs = 10 * second;
/** Past limit + grace + this, a job that cannot be seen from here is `crashed`. */
export const unseenGraceMs = minute;
export const lockWaitMs = 5 * second;
/** A lost worker is replaced at once this often; after that at growing intervals of up to a minute. */
export const promptReplacements = 5;
/** A job whose workers failed by themselves this often (an error of ours) is called crashed. */
export const workerFailures = 3;

/** So many intervals in a row without a change are a cause for attention. */
export const unchangedCheckpoints = 2;
/** Of an agent: so many observations in a row make a dead wait, or a wait. */
export const livenessObservations = 2;
/** What an agent waits for is asleep as well for so many times its quiet time: a cause for attention. */
export const sleepingShare = 3;
/** Descendants of an agent that began this soon after it are part of it (a wrapped binary, servers of tools), no tool call. */
export const standingStartMs = 5 * second;
/** A checkpoint that is later than its interval, its probe's limit and this is called missing. */
export const checkpointGraceMs = 5 * second;
/** `--checkpoint-every auto`: so many short intervals make a long one, and from this part of the work on they are short. */
export const autoShare = 5;
export const autoNearEnd = 0.9;
/** What a probe or a status command may print before it is ended. */
export const probeBytes = 64 * kib;
/** One shell line of the caller (probe, status command). */
export const shellLineBytes = 32 * kib;
/** `--success-file`s of a run, and `--result`s. */
export const resultPaths = 64;
/** A path of the caller's that gives no answer (a dead network mount) must not keep an end from being published. */
export const pathLookMs = 5 * second;
/** What the caller decided beforehand about a stall. */
export const onStallBytes = 4 * kib;
/** A status command at the end of a run. */
export const taskStatusMs = 30 * second;
/** The name of a task, as the status command must tell it. */
export const identityBytes = kib;
/** Less CPU than this part of the time is sleep. */
export const idleCpuShare = 0.005;
export const evidenceChars = 200;
/** Failed attempts in a row that are a cause for attention. */
export const watchTroubles = 10;
/** A rate limit that lasts so long is one at once. */
export const watchLongLimitMs = 15 * minute;
/** One match of a caller's pattern on one text. */
export const patternMs = 500;
/** What a watch reads of an answer when it looks for something in it; and when it only takes its digest. */
export const httpBodyBytes = mib;
export const httpDigestBytes = 1024 * mib;
export const httpHeaderBytes = 32 * kib;
export const httpRedirects = 5;
/** However late a server asks to be asked again. */
export const retryAfterMaxMs = hour;
/** What `npm view` may print. */
export const npmBytes = mib;
/** How often a queued job looks by itself: so often, or so long for each live job when that is more. */
export const queueLookMs = 5 * second;
export const queueLookPerJobMs = 100;
/** Jobs behind one that takes its turn that are told at once; the others see it at their next look. */
export const queueTold = 16;
/** Signs of life that the first of a queue listens to; the rest it sees at its next look. */
export const queueHeard = 64;
/** Ids that a queued job names of those it waits for. */
export const queueNamed = 5;
/** A hand-back folder: files that are told, that may lie in it, names of any kind; what of one is read; how long it stands still. */
export const handbackFiles = 100;
export const handbackMost = { files: 1000, names: 5000, bytes: mib } as const;
export const handbackLook = { stillMs: 0.9 * second, wholeMs: 5 * second } as const;
/** A wait that stays longer than this is no backstop: no job lives so long. */
export const backstopMs = 31 * day;
/** Files that are read of one folder of waiters. */
export const waiterFiles = 1000;
/** A wait that could not be recorded tries again so often. */
export const waiterRetryMs = minute;
/** `reconcile`: finished jobs that it looks into; its page and its document. */
export const wakeJobs = 200;
export const wakePage = { rows: 40, columns: 80, named: 5, ids: 8 } as const;
export const wakeBytes = 16 * kib;
/** An event may reach the disk so long after the instant that it names. */
export const wakeLagMs = 2 * second;
/** Looks of one owner that are remembered, and what was told after the number that each of them gave. */
export const looksKept = 8;
export const lookKeys = 200;
/** An agent that is past this part of its limit without moving is late. */
export const lateShare = 0.8;
/** The longest wait that `idle-check` proposes, and what it adds to the time that a job has left. */
export const idleWaitMs = 30 * minute;
export const idleGraceMs = minute;
/** Finished jobs that `idle-check` looks at for those that nobody has collected, and names at most. */
export const idleScan = 200;
export const uncollectedShown = 20;
/** The whole document that `idle-check --json` prints, and lines of its page. */
export const idleBytes = 16 * kib;
export const idleLines = 40;
/** What a hook may take in all, its start included. */
export const hookMs = 200;
/** Of that, what starting, printing and leaving may need after the look; a look gets this much however late it began. */
export const hookEndMs = 60;
export const hookLeastMs = 40;
/** What a host may write to a hook (the prompt is in it). More than this is not read. */
export const hookInputBytes = 4 * mib;
/** A hook looks at so many of the newest jobs, counts and names so many, and passes over what ended longer ago. */
export const hookJobs = 2000;
export const hookCounted = 20;
export const hookNamed = 3;
export const hookAgeMs = 7 * day;
/** A completion block; and the end of an answer (of the output of a run) in which one is looked for. */
export const claimsBytes = 64 * kib;
export const claimedAnswerBytes = 4 * mib;
export const claimedOutputBytes = 68 * kib;
/** What asking git about all claims of one block may take. */
export const verifyMs = 30 * second;
/** Changed files that `verify` tells apart, and commits of a job whose files it looks at. */
export const verifyFiles = 100_000;
export const verifyCommits = 500;
/** What the test command of `verify --rerun` may print before it is ended. */
export const rerunBytes = 16 * mib;
export const armedTimers = 64;
export const timerMessageBytes = 64 * kib;
/** A timer's worker looks at the wall clock at least this often: clocks are set, and machines sleep. */
export const timerLookMs = 30 * second;
/** So long a launcher waits for the end of the timer that it replaces; the request stands on disk and counts in any case. */
export const replaceWaitMs = 2 * second;
/** An attempt of a watch that could not look: so long until the next at first and (or the interval, when that is longer) at most. */
export const watchRetry = { firstMs: 5 * second, mostMs: 5 * minute };
/** Looks that something woke: not more often than this. */
export const watchPauseMs = second;
/** Names in a folder that is watched. */
export const watchNames = 5000;
/** What a kind of watch may say for programs, as JSON. */
export const watchFactsBytes = 16 * kib;
/** How often a watch that sees nothing new writes down how often it looked. */
export const watchSaveMs = minute;
/** What one small program of a watch may print. */
export const toolBytes = mib;
/** A notifier, from its start to KILL; and what is kept of its output. */
export const notifyMs = 30 * second;
export const notifyBytes = kib;
/** A notifier that prints more than this is ended. */
export const notifyFloodBytes = mib;
/** TERM to KILL for small programs of a job's own (probe, gh, notifier). */
export const toolGraceMs = second;
/** An answer that several watches share: its size, how long one may stand at most, and when what is left of it goes. */
export const sharedBytes = 256 * kib;
export const sharedHoldMs = hour;
export const sharedKeepMs = day;
/** How often a watch that waits for another's answer looks: from, to. */
export const sharedLookMs = [50, 500] as const;
