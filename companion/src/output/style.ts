// Colour, where a person looks at it. kleur is loaded only then: it asks for the stream classes, which cost a start 3 ms.
import type { State } from '../core/job.ts';

export type Paint = (state: State, text: string) => string;

/** How states are painted on this terminal; without colour they stay as they are. */
export async function makePaint(isOn: boolean): Promise<Paint> {
  if (!isOn) return (_state, text) => text;
  const { default: kleur } = await import('kleur');
  kleur.enabled = true;
  return (state, text) => {
    if (state === 'done') return kleur.green(text);
    if (state === 'failed' || state === 'crashed' || state === 'timed_out') return kleur.red(text);
    return state === 'canceled' ? kleur.yellow(text) : kleur.cyan(text);
  };
}
