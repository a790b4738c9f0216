// E2: every verify command of the state succeeds now. The first that does not ends it.
import { excerpt } from '../../core/excerpt.ts';
import type { VerifyCommand } from '../../core/loop.ts';
import { loopCommand } from '../files.ts';
import { runCommand } from '../run-command.ts';
import { type Check, fail, pass, skipped } from './check.ts';

export const green: Check = {
  id: 'E2',
  title: 'baseline green',

  async run(seen) {
    const { state, place, runCommands } = seen;
    if (!state) return skipped('the state cannot be read');
    if (state.verify.length === 0)
      return fail('E2', [
        {
          owner: 'human',
          what: 'the loop has no verify command, so nothing proves that it is green',
          command: loopCommand(place, 'plan', '--verify "COMMAND"'),
        },
      ]);
    if (seen.isRefused) {
      const what = 'the commands of this loop are not trusted here, so none of them was run';
      return fail('E2', [{ owner: 'human', what, command: loopCommand(place, 'trust') }]);
    }
    if (!runCommands)
      return skipped(`${state.verify.length} verify commands were not run (loop gate, or loop check --run)`);
    const told: string[] = [];
    for (const one of state.verify) {
      if (seen.passed.has(one.cmd)) {
        told.push(`${one.name}: passed before on this very tree`);
        continue;
      }
      const trouble = await troubleOf(one, seen);
      if (trouble !== null) return fail('E2', [{ owner: 'developer', ...trouble }]);
      seen.onPassed(one.cmd);
      told.push(`${one.name}: exit 0`);
    }
    return pass(...told);
  },
};

async function troubleOf(
  { name, cmd, timeout_s }: VerifyCommand,
  seen: Parameters<Check['run']>[0],
): Promise<{ what: string; key: string } | null> {
  const answer = await runCommand(seen.place, cmd, { ...seen, timeoutMs: timeout_s * 1000 });
  if (answer.how === 'exited' && answer.code === 0) return null;
  const lines = Buffer.concat([answer.stdout, Buffer.from('\n'), answer.stderr])
    .toString('utf8')
    .trimEnd()
    .split('\n');
  const tail = excerpt(
    lines
      .filter((line) => line.trim() !== '')
      .slice(-3)
      .join(' | '),
    140,
  );
  const how =
    answer.how === 'exited'
      ? `exit ${answer.code}`
      : answer.how === 'timeout'
        ? `took longer than ${timeout_s} s`
        : answer.how === 'flooded'
          ? 'printed more than 32 MiB'
          : (answer.reason ?? answer.how);
  return { what: `${name}: ${how}${tail === '' ? '' : `: ${tail}`}`, key: `${name}: ${how}` };
}
