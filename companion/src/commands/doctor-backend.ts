// `doctor --backend NAME`: does this agent CLI really answer? The only diagnosis that calls a model, so only on request.
import { findBackend } from '../backends/registry.ts';
import { formatDuration } from '../core/duration.ts';
import { FaultError } from '../core/errors.ts';
import { plainText } from '../core/excerpt.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { type RoundTrip, roundTrip } from '../jobs/round-trip.ts';
import { type SignIn, signInOf } from '../jobs/survey.ts';
import { labelled } from '../output/wrap.ts';
import type { Context, Reply } from './command.ts';

/** 0 when a complete answer came, 3 when not: also when the CLI is missing, too old or not allowed to do it. */
export async function doctorBackend(context: Context, name: string, isJson: boolean): Promise<Reply> {
  const backend = findBackend(name);
  const signIn = backend ? signInOf(backend) : null;
  try {
    const trip = await roundTrip(name, () =>
      context.tell(`asking ${name} for one word: one small model call, at most 2 minutes`),
    );
    const isReady = trip.state === 'done';
    const code = isReady ? exitCodes.done : exitCodes.unsuccessful;
    if (isJson) return { code, json: { backend: name, ready: isReady, sign_in: signIn, ...trip } };
    return { code, out: page(name, isReady, [...rowsOf(trip, signIn), ...verdictOf(trip)]) };
  } catch (error) {
    if (!(error instanceof FaultError) || error.code !== 'preflight') throw error;
    const code = exitCodes.unsuccessful;
    const refusal = { code: error.code, message: error.message };
    if (isJson)
      return { code, json: { backend: name, ready: false, sign_in: signIn, error: refusal, next: error.next } };
    const next: Row[] = error.next === null ? [] : [['next', error.next]];
    return { code, out: page(name, false, [['refused', error.message], ...next]) };
  }
}

type Row = [name: string, text: string];

function rowsOf(trip: RoundTrip, signIn: SignIn | null): Row[] {
  const signs = [...(signIn?.files ?? []).map((file) => `~/${file}`), ...(signIn?.variables ?? [])];
  const first = trip.first_output_ms;
  return [
    ['program', trip.program],
    ['version', trip.version ?? 'unknown'],
    ['sign-in', signs.join(', ') || 'no sign of one'],
    ['profile', trip.adds ? `${trip.profile} (${trip.adds})` : trip.profile],
    ['first output', first === null ? 'none seen' : `after ${formatDuration(first)}`],
    ['whole run', trip.duration_ms === null ? 'not over' : formatDuration(trip.duration_ms)],
    ['conversation', trip.conversation_id ?? 'none'],
    ['answer', trip.answer?.trimEnd() ?? 'none'],
  ];
}

function verdictOf(trip: RoundTrip): Row[] {
  const verdict = trip.error ? `${trip.state}, ${trip.error.code}: ${trip.error.message}` : trip.state;
  const warnings = trip.warnings.map((warning): Row => ['warning', warning.message]);
  const left: Row[] = trip.left === null ? [] : [['left', `${trip.left} could not be removed`]];
  return [['verdict', verdict], ...warnings, ...left];
}

function page(name: string, isReady: boolean, rows: readonly Row[]): string {
  const lines = rows.flatMap(([label, text]) => labelled(label, plainText(text)));
  return `${[`${name}: ${isReady ? 'ready' : 'not ready'}`, ...lines].join('\n')}\n`;
}
