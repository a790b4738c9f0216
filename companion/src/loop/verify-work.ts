// Before a checkpoint: the verify commands of the state, first failure ends; what fails goes back to the one who wrote it.
import { plainText, tail } from '../core/excerpt.ts';
import type { Fix } from '../core/loop.ts';
import type { Environment } from '../platform/env.ts';
import { requireLoop } from './files.ts';
import type { LoopPlace } from './place.ts';
import { runCommand } from './run-command.ts';
import { requireTrust } from './trust.ts';

const tailBytes = 800;

export async function verifyWork(
  place: LoopPlace,
  environment: Environment,
  signal: AbortSignal,
): Promise<{ fixes: Fix[]; verified: string[] }> {
  const state = requireLoop(place);
  requireTrust(place, state);
  const verified: string[] = [];
  for (const { name, cmd, timeout_s } of state.verify) {
    const answer = await runCommand(place, cmd, { timeoutMs: timeout_s * 1000, environment, signal });
    signal.throwIfAborted();
    if (answer.how === 'exited' && answer.code === 0) {
      verified.push(`${name}: passed`);
      continue;
    }
    const how = answer.how === 'exited' ? `exit code ${answer.code}` : answer.how;
    const said = tail(plainText(`${answer.stdout}\n${answer.stderr}`).trim(), tailBytes).text;
    const what = `the verify command ${name} fails (${how}); its last output: ${said}`;
    return { fixes: [{ check: 'E2', owner: 'developer', what, command: cmd }], verified };
  }
  return { fixes: [], verified };
}
