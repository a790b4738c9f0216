// Waiting for jobs: what is shown meanwhile, and to whom. What is told at the end is waited.ts.

import { type Registering, withRegistration } from '../jobs/registration.ts';
import { inspect, isEnded, type View } from '../jobs/view.ts';
import { waitForJobs } from '../jobs/wait.ts';
import type { StateRoot } from '../store/layout.ts';
import type { Context, Reply } from './command.ts';
import { withFarewell } from './farewell.ts';
import { lineOf } from './live-line.ts';
import { type Collecting, waitAgain } from './wait-again.ts';
import { tellWaited } from './waited.ts';

export async function waitAndTell(
  context: Context,
  root: StateRoot,
  ids: string[],
  options: Collecting,
): Promise<Reply> {
  const wait = () =>
    waitForJobs(root.folder, ids, {
      ...options,
      // A person who looks at the terminal gets one line that is renewed; everybody else silence, or the lines asked for.
      heartbeatMs: options.heartbeatMs ?? (context.live ? 1000 : null),
      onHeartbeat: (seen) => {
        const lines = seen.map((view) => lineOf(asOfNow(view)));
        if (options.heartbeatMs !== null) for (const line of lines) context.tell(line);
        else context.live?.(lines.join(' | '));
      },
    });
  const again = (): string => waitAgain(root, ids, options);
  const waited = await withFarewell(context, ids, again, () =>
    withRegistration(root.folder, ids, { ...termsOf(options), tell: context.tell }, wait),
  );
  if (options.heartbeatMs === null) context.live?.('');
  return tellWaited(context, root, waited, options);
}

function termsOf({ mode, until = [], timeoutMs, owner }: Collecting): Registering {
  return { kind: 'wait', mode, until, timeoutMs, owner };
}

/** A wait that sleeps on the worker's FIFO has last looked when it fell asleep. */
function asOfNow(view: View): View {
  try {
    return isEnded(view.state) ? view : inspect(view.root, view.id);
  } catch {
    // Its folder is being removed: the wait itself will tell.
    return view;
  }
}
