/**
 * The only way a test waits: ask for a condition again and again, up to a limit, and say what it last saw when it never
 * came true. A test that needs a fixed pause has no condition to wait for, and will be flaky or slow.
 */
import { inspect } from 'node:util';

export interface EventuallyOptions {
  limitMs?: number;
  everyMs?: number;
}

type Falsy = undefined | null | false | 0 | '';

/**
 * Resolves with the first truthy value of `condition`. An exception counts as "not yet" and is named at the limit.
 * @param what the end of the sentence "waited 10000 ms for ..."
 */
export async function eventually<T>(
  what: string,
  condition: () => T | Promise<T>,
  { limitMs = 10_000, everyMs = 25 }: EventuallyOptions = {},
): Promise<Exclude<T, Falsy>> {
  const started = performance.now();
  for (;;) {
    let last: string;
    try {
      const value = await condition();
      if (value) return value as Exclude<T, Falsy>;
      last = `the condition is ${inspect(value)}`;
    } catch (error) {
      last = `it throws ${error instanceof Error ? error.message : inspect(error)}`;
    }
    if (performance.now() - started >= limitMs) throw new Error(`waited ${limitMs} ms for ${what}; at last ${last}`);
    await new Promise((wake) => setTimeout(wake, everyMs));
  }
}
