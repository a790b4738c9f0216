// `timer in DELAY` and `timer at INSTANT`: a message to whoever waits, at an instant that stands on disk. Nothing of ours runs meanwhile.
import { formatAge, formatDuration, parseDuration } from '../core/duration.ts';
import { FaultError, usageError } from '../core/errors.ts';
import { exampleInstant, parseInstant } from '../core/instant.ts';
import type { Lineage, Spec, TimerPart } from '../core/job.ts';
import { limits, timerMessageBytes } from '../core/limits.ts';
import { quoteWords } from '../core/shell-words.ts';
import { launch } from '../jobs/launch.ts';
import { admitTimer, replaceTimers } from '../jobs/timers.ts';
import { isoOf, nowMs } from '../platform/clock.ts';
import { selfWords } from '../platform/self.ts';
import { requireSlotName } from '../store/slots.ts';
import type { Command, Context, Reply } from './command.ts';
import { checkLaunchOptions, launchWords, tellLaunched } from './launching.ts';
import { notifyOf } from './notifying.ts';
import { onceWords, repeatedLaunch } from './once-words.ts';
import { launchOptions } from './options.ts';
import type { Parsed } from './parse.ts';

const options = {
  message: { kind: 'text', value: 'TEXT', help: 'what `wait` prints when it is due, byte for byte (at most 64 KiB)' },
  slot: { kind: 'text', value: 'NAME', help: 'replace the armed timer of this slot, if there is one' },
  ...launchOptions,
} as const;

const notes =
  'The instant counts on the wall clock. It stands on disk: no process runs for it, and it outlives a restart of the machine. ' +
  'A due timer says that the time has come, not that anything is finished. At most 64 are armed in one state folder.';

const timerIn: Command = {
  name: 'timer in',
  summary: 'a message after a delay',
  form: 'DELAY [--message TEXT] [options]',
  words: { min: 1, max: 1 },
  options,
  notes: `DELAY: 1s to 30d, like 90s, 25m or 1h30m. ${notes}`,
  examples: ['timer in 25m --message "look at the build"', 'timer in 12h --slot backstop --message "give up"'],
  run: (context, input) =>
    arm(context, input, 'timer in', () => {
      const delay = parseDuration(input.words[0] as string, 'the delay', limits.timer);
      return { due: nowMs() + delay, delay };
    }),
};

const timerAt: Command = {
  name: 'timer at',
  summary: 'a message at an instant',
  form: 'INSTANT [--message TEXT] [options]',
  words: { min: 1, max: 1 },
  options,
  notes: `INSTANT: YYYY-MM-DDThh:mm:ss with Z or an offset like +01:00, in the future, at most 30 days ahead (the example's date is GNU date). ${notes}`,
  examples: [`timer at "$(date -u -d '+1 hour' +%FT%TZ)" --message "go on"`],
  run: (context, input) =>
    arm(context, input, 'timer at', () => ({ due: futureInstant(input.words[0] as string), delay: null })),
};

export const timer: Command = {
  name: 'timer',
  summary: 'a message after a delay (timer in) or at an instant (timer at)',
  form: 'in DELAY | at INSTANT [--message TEXT] [--slot NAME] [options]',
  words: { min: 0, max: 0 },
  options,
  notes: `"timer in --help" and "timer at --help" say more.\n${notes}`,
  examples: [...timerIn.examples, ...timerAt.examples],

  async choose(args) {
    const [word, ...rest] = args;
    // To the parser it looks like an option.
    if (/^-\d/.test(rest[0] ?? '')) throw usageError(`cannot arm a timer ${word} ${rest[0]}: it is negative`);
    if (word === 'in') return { command: timerIn, args: rest };
    if (word === 'at') return { command: timerAt, args: rest };
    if (word === '--help' || word === '-h') return { command: timer, args };
    const came = word === undefined ? 'without a word' : JSON.stringify(word);
    throw usageError(
      `cannot arm a timer ${came}: the forms are timer in DELAY and timer at INSTANT`,
      quoteWords([...selfWords(), 'timer', '--help']),
    );
  },

  run() {
    throw new Error('timer is timer in or timer at');
  },
};

async function arm(
  context: Context,
  input: Parsed,
  verb: string,
  when: () => { due: number; delay: number | null },
): Promise<Reply> {
  const words = onceWords(verb, input, null, null);
  const repeated = await repeatedLaunch(context, input, words, false);
  if (repeated) return repeated;
  const { due, delay } = when();
  const [message, slot] = [input.text('message') ?? '', input.text('slot')];
  const size = Buffer.byteLength(message);
  if (size > timerMessageBytes)
    throw usageError(`cannot take a --message of ${size} bytes: at most ${timerMessageBytes} are allowed`);
  const part: TimerPart = {
    due_at: isoOf(due),
    delay_ms: delay,
    message,
    slot: slot === undefined ? null : requireSlotName(slot),
    durable: true,
  };
  return launchTimer(context, input, { timer: part, lineage: null, words });
}

export async function launchTimer(
  context: Context,
  input: Parsed,
  job: {
    timer: TimerPart;
    lineage: Lineage | null;
    words: string;
    notify?: readonly string[] | null | undefined;
    /** The timer that is armed again. */
    earlier?: Pick<Spec, 'owner' | 'label'>;
  },
): Promise<Reply> {
  checkLaunchOptions(input);
  const root = context.root(input);
  const said = launchWords(input, job.earlier && { owner: job.earlier.owner, label: job.earlier.label });
  const { admit, earlier } = admitTimer(root, job.timer.slot);
  const launched = await launch(root, {
    kind: 'timer',
    verb: 'timer',
    ...said,
    cwd: context.cwd,
    deadlineMs: job.timer.delay_ms ?? Math.max(0, Date.parse(job.timer.due_at) - nowMs()),
    killGraceMs: 0,
    maxOutputBytes: limits.maxOutput.default,
    firstOutputMs: null,
    stallMs: null,
    lineage: job.lineage,
    run: null,
    staff: null,
    timer: job.timer,
    notify: await notifyOf(context, input, job.notify),
    words: job.words,
    admit,
  });
  const replaced = launched.isNew ? await replaceTimers(root, earlier(), { id: launched.id, owner: said.owner }) : [];
  return tellLaunched(context, input, root, { ...launched, replaced }, false);
}

/** A past instant once armed nothing and stalled its caller for hours: how far off it is must be told. */
function futureInstant(text: string): number {
  const now = nowMs();
  const due = parseInstant(text, now);
  const refused = (why: string) =>
    new FaultError(
      'usage',
      `cannot arm a timer at ${text}: ${why}; the clock here says ${isoOf(now)}, and an hour from now is ${exampleInstant(now)}`,
      null,
    );
  if (due <= now)
    throw refused(`that was ${now - due < 60_000 ? formatAge(now - due) : formatDuration(now - due)} ago`);
  const { max } = limits.timer;
  if (due - now > max) throw refused(`that is in ${formatDuration(due - now)}, and ${formatDuration(max)} is the most`);
  return due;
}
