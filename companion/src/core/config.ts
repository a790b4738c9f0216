// The form of the user's own config file.
import * as z from 'zod/mini';

const customBackend = z.object({
  argv: z.array(z.string()).check(z.minLength(1)),
  prompt: z._default(z.enum(['stdin', 'file', 'argument']), 'stdin'),
});

export const userConfig = z.object({
  backends: z._default(z.record(z.string().check(z.regex(/^[a-z][a-z0-9-]{0,30}$/)), customBackend), {}),
  default_backend: z.optional(z.string()),
});

export type UserConfig = z.infer<typeof userConfig>;
