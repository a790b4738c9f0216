// E7: is one of the user's stop conditions met? It fails nothing: a met one makes the gate say STOP.
import path from 'node:path';
import { loopLimits } from '../../core/limits-loop.ts';
import { isoNow, nowMs } from '../../platform/clock.ts';
import { exists } from '../../platform/folders.ts';
import { dateOf } from '../plan.ts';
import { runCommand } from '../run-command.ts';
import { type Check, fail, pass, type Seen, skipped } from './check.ts';

export const conditions: Check = {
  id: 'E7',
  title: 'stop conditions',

  async run(seen) {
    const { state } = seen;
    if (!state) return skipped('the state cannot be read');
    const told: string[] = [];
    const faults: string[] = [];
    const questions = [];
    for (const [at, condition] of state.stop_conditions.entries()) {
      const answer = await judge(condition, seen);
      if (answer === 'words') {
        questions.push({
          id: `E7.${at + 1}`,
          check: 'E7' as const,
          question: `Is this stop condition NOT met: ${condition}?`,
        });
        continue;
      }
      if (answer.is === 'met') seen.met.push({ condition, evidence: answer.why });
      if (answer.is === 'fault') faults.push(`stop condition ${condition}: ${answer.why}`);
      told.push(`${condition}: ${answer.is === 'met' ? 'MET' : 'not met'} (${answer.why})`);
    }
    if (faults.length > 0)
      return {
        ...fail(
          'E7',
          faults.map((what) => ({ owner: 'human', what })),
        ),
        questions,
      };
    return {
      ...pass(...(told.length === 0 ? [`${state.stop_conditions.length} conditions, none for a machine`] : told)),
      questions,
    };
  },
};

type Judged = { is: 'met' | 'not met' | 'fault'; why: string } | 'words';

async function judge(condition: string, seen: Seen): Promise<Judged> {
  const [, kind, rest = ''] = /^(file|date|cmd):\s*(.*)$/s.exec(condition) ?? [];
  if (kind === 'file') return judgeFile(rest.trim(), seen.place.worktree);
  if (kind === 'date') {
    const due = dateOf(rest);
    if (due === null) return { is: 'fault', why: 'no ISO date' };
    return { is: nowMs() >= due ? 'met' : 'not met', why: `now ${isoNow()}` };
  }
  if (kind !== 'cmd') return 'words';
  if (!seen.runCommands) return { is: 'not met', why: 'not run' };
  const answer = await runCommand(seen.place, rest.trim(), { ...seen, timeoutMs: loopLimits.conditionMs });
  if (answer.how !== 'exited') return { is: 'fault', why: answer.how };
  return { is: answer.code === 0 ? 'met' : 'not met', why: `exit ${answer.code}` };
}

function judgeFile(name: string, worktree: string): Judged {
  const full = path.resolve(worktree, name);
  if (name === '' || path.isAbsolute(name) || !`${full}/`.startsWith(`${worktree}/`))
    return { is: 'fault', why: 'it is no path inside the worktree' };
  return exists(full) ? { is: 'met', why: 'it is there' } : { is: 'not met', why: 'it is not there' };
}
