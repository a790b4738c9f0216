// The form of the user's own config file.
import * as z from 'zod/mini';
import { modeIds } from './modes.ts';

const backendName = z.string().check(z.regex(/^[a-z][a-z0-9-]{0,30}$/));
const mode = z.enum(modeIds);

const customBackend = z
  .object({
    argv: z.array(z.string()).check(z.minLength(1)),
    prompt: z._default(z.enum(['stdin', 'file', 'argument']), 'stdin'),
    /** Put the words of the mode around the task. */
    brief: z._default(z.boolean(), false),
  })
  .check(
    // Those words are only known when the job starts: too late to refuse what is too long for an argument.
    z.refine(({ prompt, brief }) => !(brief && prompt === 'argument'), {
      path: ['brief'],
      error: 'cannot go with "prompt": "argument", whose length is limited; use stdin or file',
    }),
  );

export const userConfig = z.object({
  backends: z._default(z.record(backendName, customBackend), {}),
  default_backend: z.optional(z.string()),
  /** Per mode; counts before `default_backend`. */
  default_backends: z.optional(z.partialRecord(mode, z.string())),
  /** Program and arguments that are told of every job without a `--notify` of its own. */
  notify: z.optional(z.array(z.string()).check(z.minLength(1))),
  /** Modes that always run restricted. */
  restrict: z.optional(z.array(mode)),
});

export type UserConfig = z.infer<typeof userConfig>;
