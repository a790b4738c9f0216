// What a probe said: one JSON object with numbers that make sense, or trouble with its reason. The probe is the user's program, so
// every text of it is data: plain and short. Pure.
import { formatDuration } from './duration.ts';
import { messageOf } from './errors.ts';
import { excerpt, plainText } from './excerpt.ts';

export interface ProbeReading {
  kind: 'ok';
  status: string | null;
  phase: string | null;
  completed: number | null;
  total: number | null;
  etaSeconds: number | null;
  message: string | null;
  /** What it printed in vain although the rest is of use: told, and no trouble. */
  note?: string;
}

export type ProbeAnswer = ProbeReading | { kind: 'trouble'; why: string };

/** How the program ended, as platform/tool.ts tells it. */
export interface ProbeEnd {
  how: 'exited' | 'timeout' | 'flooded' | 'aborted' | 'failed';
  code: number | null;
  reason: string | null;
  stdout: string;
  stderr: string;
}

const textBytes = 120;
/** No estimate reaches further than this. */
const longestEta = 100 * 365 * 86_400;
const fields = ['status', 'phase', 'completed', 'total', 'eta_seconds', 'message'];
const failures = ['failed', 'failure', 'error', 'errored', 'crashed'];

export function parseProbe(end: ProbeEnd, bounds: { timeoutMs: number; bytes: number }): ProbeAnswer {
  switch (end.how) {
    case 'timeout':
      return trouble(`took longer than ${formatDuration(bounds.timeoutMs)}`);
    case 'flooded':
      return trouble(`printed more than ${bounds.bytes} bytes`);
    case 'aborted':
      return trouble('was broken off');
    case 'failed':
      return trouble(`could not be started: ${plain(end.reason ?? 'not known why')}`);
    default:
  }
  if (end.code !== 0) {
    const said = plain(end.stderr);
    return trouble(`exited with code ${end.code ?? 'unknown'}${said === '' ? '' : `: ${said}`}`);
  }
  return parseText(end.stdout);
}

/** Says this answer that the task has failed? */
export function saysFailure({ status }: ProbeReading): boolean {
  return failures.includes((status ?? '').toLowerCase());
}

function parseText(stdout: string): ProbeAnswer {
  const text = stdout.trim();
  if (text === '') return trouble('printed nothing');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return trouble(`printed no single JSON object: ${plain(messageOf(error))}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return trouble('printed JSON that is no object');
  const given = value as Record<string, unknown>;
  for (const name of ['status', 'phase', 'message'])
    if (isThere(given[name]) && typeof given[name] !== 'string') return trouble(`printed a ${name} that is no text`);
  for (const name of ['completed', 'total', 'eta_seconds']) {
    const fault = isThere(given[name]) ? numberFault(given[name]) : undefined;
    if (fault !== undefined) return trouble(`printed ${name} as ${fault}`);
  }
  const [completed, total] = [numberOf(given.completed), numberOf(given.total)];
  const etaSeconds = numberOf(given.eta_seconds);
  if (completed !== null && total !== null && completed > total)
    return trouble(`printed completed ${completed} of ${total}`);
  if (etaSeconds !== null && etaSeconds > longestEta)
    return trouble('printed eta_seconds as a number that is too large');
  const reading: ProbeReading = {
    kind: 'ok',
    status: textOf(given.status),
    phase: textOf(given.phase),
    completed,
    total,
    etaSeconds: etaSeconds === null ? null : Math.round(etaSeconds),
    message: textOf(given.message),
  };
  return withVain(reading, Object.keys(given));
}

/** Somebody who prints `step` or `percent` believes to be heard. Where nothing else is of use, that is trouble; else it is told beside it. */
function withVain(reading: ProbeReading, keys: readonly string[]): ProbeAnswer {
  const unknown = keys.filter((key) => !fields.includes(key));
  if (unknown.length > 0 && unknown.length === keys.length)
    return trouble(`printed none of ${fields.join(', ')} (it has: ${namesOf(unknown)})`);
  const { status, phase, completed, total, etaSeconds, message } = reading;
  const also = unknown.length > 0 ? ` (it has also: ${namesOf(unknown)})` : '';
  if (completed === null && total !== null) {
    const what = `printed total without completed${also}`;
    // A failure, a phase or an estimate counts all the same.
    if (status === null && phase === null && etaSeconds === null && message === null) return trouble(what);
    return { ...reading, note: `the probe ${what}` };
  }
  if (completed === null && phase === null && etaSeconds === null && also !== '')
    return { ...reading, note: `the probe printed neither completed nor phase${also}` };
  return reading;
}

function namesOf(keys: readonly string[]): string {
  return plain(
    keys
      .slice(0, 50)
      .map((key) => plain(key) || '""')
      .join(', '),
  );
}

function numberFault(value: unknown): string | undefined {
  if (typeof value !== 'number') return 'something that is no number';
  // JSON itself reads 1e999 as infinite.
  if (!Number.isFinite(value) || value > Number.MAX_SAFE_INTEGER) return 'a number that is too large';
  return value < 0 ? 'a negative number' : undefined;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** An empty text says nothing. */
function textOf(value: unknown): string | null {
  return (typeof value === 'string' && plain(value)) || null;
}

function plain(text: string): string {
  return excerpt(plainText(text).replace(/\s+/g, ' ').trim(), textBytes);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function trouble(what: string): ProbeAnswer {
  return { kind: 'trouble', why: `the probe ${what}` };
}
