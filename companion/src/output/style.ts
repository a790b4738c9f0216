// Colour, where a person looks at it. kleur itself follows NO_COLOR, FORCE_COLOR and what the stream is.
import kleur from 'kleur';
import type { State } from '../core/job.ts';

export function colorState(state: State, text: string, isOn: boolean): string {
  if (!isOn) return text;
  kleur.enabled = true;
  switch (state) {
    case 'done':
      return kleur.green(text);
    case 'failed':
    case 'crashed':
    case 'timed_out':
      return kleur.red(text);
    case 'canceled':
      return kleur.yellow(text);
    default:
      return kleur.cyan(text);
  }
}
