/**
 * What a watch kind is given for one look, made in a test: real programs, a real clock, nothing shared. And a caller's words as `read`
 * gets them, through the real parser.
 */
import { parseCommand } from '../../companion/src/commands/parse.ts';
import { runTool } from '../../companion/src/platform/tool.ts';
import { findProgram } from '../../companion/src/platform/which.ts';
import type { Cursor, Fault, Input, Look, Tools, Trouble, Watch } from '../../companion/src/watches/watch.ts';

export interface ToolsOptions {
  cwd?: string;
  /** Of one attempt. */
  attemptMs?: number;
  environment?: Record<string, string>;
  signal?: AbortSignal;
  nowMs?: number;
  over?: Partial<Tools>;
}

export function makeTools(options: ToolsOptions = {}): Tools {
  const { cwd = '/', attemptMs = 30_000, environment = {}, signal = new AbortController().signal } = options;
  const started = performance.now();
  const leftMs = (): number => Math.max(1, attemptMs - (performance.now() - started));
  return {
    run: (call) =>
      runTool({
        cwd,
        limit: 1024 * 1024,
        timeoutMs: leftMs(),
        signal,
        ...call,
        environment: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...environment, ...call.environment },
      }),
    find: (name) => findProgram(name, cwd),
    cwd,
    leftMs,
    nowMs: () => options.nowMs ?? Date.now(),
    signal,
    job: async () => undefined,
    onJobEnd: () => () => {},
    shared: (_key, _maxAgeMs, ask) => ask(),
    ...options.over,
  };
}

/** `watch KIND ARGS...` as far as `read` sees it. */
export function readWords(
  watch: Watch,
  args: readonly string[],
  cwd = '/',
  isOnce = false,
): { input: Input; words: string } {
  const parsable = { name: `watch ${watch.id}`, form: watch.form, options: watch.options, words: watch.words };
  const place = { cwd, isOnce, stateRoot: '/nonexistent', jobId: (text: string) => text };
  return watch.read(parseCommand(parsable, args), place);
}

/** The input goes through JSON, as it does on its way through spec.json. */
export function look(
  watch: Watch,
  args: readonly string[],
  { cursor = null, ...options }: ToolsOptions & { cursor?: Cursor | null } = {},
): Promise<Look | Trouble | Fault> {
  const { input } = readWords(watch, args, options.cwd);
  return watch.look(JSON.parse(JSON.stringify(input)), makeTools(options), cursor);
}

export async function lookOnce(
  watch: Watch,
  args: readonly string[],
  options: ToolsOptions & { cursor?: Cursor | null } = {},
): Promise<Look> {
  const answer = await look(watch, args, options);
  if (answer.kind !== 'look') throw new Error(`no look but ${JSON.stringify(answer)}`);
  return answer;
}
