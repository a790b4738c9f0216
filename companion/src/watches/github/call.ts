// One question to GitHub through the user's own `gh`: bounded, quiet, asked again where that can heal. It finds its login by itself; we
// never read, take or keep a token.
import { ghBytes, ghCallMs, ghPausesMs } from '../../core/limits.ts';
import { sleep } from '../../platform/clock.ts';
import { type Environment, variables } from '../../platform/env.ts';
import type { ToolAnswer } from '../../platform/tool.ts';
import type { Fault, Tools, Trouble } from '../watch.ts';
import { type Failure, failureOf, untilReset } from './failures.ts';
import { fieldsOf } from './json.ts';

export interface Answer {
  kind: 'answer';
  value: unknown;
}

/** No pager, no question, no colour, no news of its own releases. */
const quiet: Environment = {
  GH_PAGER: 'cat',
  PAGER: 'cat',
  GH_PROMPT_DISABLED: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
  GH_SPINNER_DISABLED: '1',
  GH_DEBUG: '0',
  GH_FORCE_TTY: '',
  NO_COLOR: '1',
  CLICOLOR_FORCE: '0',
};

/** What it printed, as JSON. `codes`: the exit codes with which it still answers. */
export async function askGh(
  tools: Tools,
  args: readonly string[],
  codes: readonly number[] = [0],
): Promise<Answer | Failure> {
  const program = tools.find('gh');
  if (program === undefined) return missing();
  for (let attempt = 0; ; attempt += 1) {
    const result = judge(await call(tools, program, args), codes, tools);
    const pause = ghPausesMs[attempt];
    const heals = result.kind === 'trouble' && result.cause !== 'rate_limit';
    if (!heals || pause === undefined || tools.signal.aborted || tools.leftMs() <= pause) return timed(result, tools);
    await sleep(pause);
  }
}

function missing(): Fault {
  const message = `cannot find gh on PATH (${variables.searchPath() || 'empty'}); install GitHub's CLI and log in with gh auth login`;
  return { kind: 'fault', cause: 'tool_missing', message };
}

async function call(tools: Tools, program: string, args: readonly string[]): Promise<ToolAnswer> {
  const timeoutMs = Math.min(ghCallMs, Math.max(1, tools.leftMs()));
  return tools.run({ program, args, environment: quiet, limit: ghBytes, timeoutMs });
}

function judge(answer: ToolAnswer, codes: readonly number[], tools: Tools): Answer | Failure {
  const isAnswer = answer.how === 'exited' && codes.includes(answer.code ?? -1);
  if (isAnswer) {
    try {
      return { kind: 'answer', value: JSON.parse(answer.stdout.toString()) };
    } catch {
      if (answer.code === 0) return unexpected('it printed no JSON');
    }
  }
  return failureOf(answer, tools);
}

export function unexpected(what: string): Trouble {
  return { kind: 'trouble', cause: 'shape', message: `gh answered in an unexpected form: ${what}`, retryAfterMs: null };
}

/** gh does not say when a rate limit ends, but it can ask; that question is free. A secondary limit is not told anywhere. */
async function timed(result: Answer | Failure, tools: Tools): Promise<Answer | Failure> {
  if (result.kind !== 'trouble' || result.cause !== 'rate_limit' || result.retryAfterMs !== null) return result;
  const program = tools.find('gh');
  if (program === undefined || /secondary|quickly|abuse/i.test(result.message)) return result;
  const answer = judge(await call(tools, program, ['api', 'rate_limit']), [0], tools);
  const resources = answer.kind === 'answer' ? fieldsOf(fieldsOf(answer.value)?.resources) : undefined;
  const waits = Object.values(resources ?? {}).flatMap((row) => {
    const { remaining, reset } = fieldsOf(row) ?? {};
    const waitMs = typeof reset === 'number' ? untilReset(reset * 1000 - tools.nowMs()) : null;
    return remaining === 0 && waitMs !== null ? [waitMs] : [];
  });
  return waits.length === 0 ? result : { ...result, retryAfterMs: Math.max(...waits) };
}
