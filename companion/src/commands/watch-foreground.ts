// `watch ... --foreground`: the job is one like any other, and this process tells its changes, one JSON line each, until it ends. Ctrl-C
// (or TERM) cancels the job; SIGKILL, or a reader that goes away, leaves it to go on to its bound.
import { type ExitCode, exitCodeOf, exitCodes } from '../core/exit-codes.ts';
import { cancelJob } from '../jobs/cancel.ts';
import { noteCollected } from '../jobs/collected.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { withRegistration } from '../jobs/registration.ts';
import { inspect, isEnded, type View } from '../jobs/view.ts';
import { waitForJobs } from '../jobs/wait.ts';
import { lineOfEvent, terminalLine } from '../jobs/watch-lines.ts';
import { variables } from '../platform/env.ts';
import { onInterrupt } from '../platform/interrupt.ts';
import { onNextChange } from '../platform/watch-path.ts';
import { readEvents } from '../store/journal.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';

/** For file systems that tell of no changes. */
const lookMs = 2000;

export async function follow(context: Context, root: StateRoot, id: string): Promise<Reply> {
  const { spec, paths } = inspect(root.folder, id);
  const kind = spec?.watch?.condition ?? 'unknown';
  context.tell(`job ${id} (Ctrl-C cancels it); collect: ${nextCommands.wait(id, root.option)}`);
  let after = 0;
  let isHeard = true;
  const say = (line: Record<string, unknown>): void => {
    isHeard &&= context.say(`${JSON.stringify(line)}\n`);
  };
  const drain = (): void => {
    const { events } = readEvents(paths, after, Number.MAX_SAFE_INTEGER);
    for (const event of events) {
      const line = lineOfEvent(event, kind, spec?.watch?.repeat === true);
      if (line && isHeard) say(line);
      after = event.seq;
    }
  };
  const ended = untilEnd(context, root, { id, owner: spec?.owner ?? null }, paths.events, () => {
    drain();
    return isHeard;
  });
  const view = await ended;
  // Nobody reads any more: the job goes on, and whoever started this learns that it was not followed to its end.
  if (view === undefined) {
    const collect = nextCommands.wait(id, root.option);
    return { code: exitCodes.pending, notes: [`the reader is gone; job ${id} runs on; collect: ${collect}`] };
  }
  drain();
  const code: ExitCode = exitCodeOf(view.state.state);
  if (isEnded(view.state)) say(terminalLine(view.state, kind));
  if (isEnded(view.state) && isHeard) noteCollected(view, 'wait');
  return { code };
}

/** The job as it ended (or as a cancel left it); undefined when `tell` finds nobody that listens. */
function untilEnd(
  context: Context,
  root: StateRoot,
  { id, owner }: { id: string; owner: string | null },
  events: string,
  tell: () => boolean,
): Promise<View | undefined> {
  const patience = Number.MAX_SAFE_INTEGER;
  return withRegistration(
    root.folder,
    [id],
    { kind: 'foreground', mode: 'all', until: [], timeoutMs: patience, owner, tell: context.tell },
    () =>
      new Promise<View | undefined>((resolve, reject) => {
        let unwatch = (): void => undefined;
        const look = (): void => {
          unwatch();
          unwatch = onNextChange([events], look);
          if (!tell()) end(undefined);
        };
        const timer = setInterval(look, lookMs);
        const end = (view: View | undefined): void => {
          clearInterval(timer);
          unwatch();
          release();
          resolve(view);
        };
        const release = onInterrupt((signal) => {
          context.tell(`${signal}: canceling job ${id}`);
          const request = { owner: variables.owner() ?? null, why: `its foreground got ${signal}` };
          cancelJob(root.folder, id, request).then(({ view }) => end(view), reject);
        });
        look();
        waitForJobs(root.folder, [id], { mode: 'all', timeoutMs: patience, heartbeatMs: null }).then(
          ({ views }) => end(views[0]),
          reject,
        );
      }),
  );
}
