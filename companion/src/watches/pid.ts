// The end of a process that this program did not start. A number alone names nobody for long: the process is known by its number, its
// start and the boot of the machine, taken at the launch.
import { FaultError, usageError } from '../core/errors.ts';
import type { Identity } from '../core/job.ts';
import { identityOf, isDeadState, isIdentity, livenessOf } from '../platform/identity.ts';
import { readProcess } from '../platform/process-table.ts';
import { seen } from './local.ts';
import type { Input, Watch } from './watch.ts';

/** One look at one process costs microseconds; its end is not told by the system. */
const lookMs = 2000;

export const pid = {
  id: 'pid',
  summary: 'the end of a process',
  form: 'PID',
  words: { min: 1, max: 1 },
  options: { gone: { kind: 'flag', help: 'met when it has ended (the default, and all there is)' } },
  notes:
    'How it ended is not known: only its parent learns that. A later process of the same number is another one. A restart of the machine ends it too.',
  examples: ['watch pid 4711 --for 8h'],
  isRemote: false,

  read(given, { isOnce }) {
    const [word = ''] = given.words;
    const number = /^\d{1,10}$/.test(word) ? Number(word) : Number.NaN;
    if (!(number > 1))
      throw usageError(`cannot watch process ${JSON.stringify(word)}: allowed are whole numbers from 2 on`);
    if (number === process.pid) throw usageError(`cannot watch process ${number}: it is this very command`);
    const row = readProcess(number);
    const identity = row && !isDeadState(row.state) ? identityOf(number) : undefined;
    if (!identity && !isOnce)
      throw new FaultError(
        'preflight',
        `cannot watch process ${number}: there is none of that number here (it may have ended already)`,
      );
    const text = identity ? row?.name : null;
    return {
      input: { pid: number, name: text, identity: identity ?? null },
      words: `pid ${number}${text ? ` (${text})` : ''}: gone`,
    };
  },

  async look(input) {
    const shown = `process ${input.pid}${input.name ? ` (${input.name})` : ''}`;
    const facts = { facts: { pid: input.pid } };
    switch (standing(input)) {
      case 'alive':
        return seen('pending', 'running', `${shown} is running`, facts);
      case 'dead':
        return seen('met', 'gone', `${shown} has ended`, facts);
      default:
        return {
          kind: 'trouble',
          cause: 'failed',
          message: `${shown} cannot be seen from this pid namespace`,
          retryAfterMs: null,
        };
    }
  },

  early(input, wake) {
    const timer = setInterval(() => {
      if (standing(input) === 'dead') wake();
    }, lookMs);
    return () => clearInterval(timer);
  },
} as const satisfies Watch;

function standing({ identity }: Input): ReturnType<typeof livenessOf> {
  return isIdentity(identity) ? livenessOf(identity as Identity) : 'dead';
}
