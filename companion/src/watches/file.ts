// A file: there, gone, changed, or with something in it.
import path from 'node:path';
import { factsOf } from '../platform/folders.ts';
import type { Watch } from './watch.ts';

export const file = {
  id: 'file',
  summary: 'a file: there, gone, changed, or with something in it',
  form: 'PATH',
  words: { min: 1, max: 1 },
  options: {},
  examples: ['watch file build/out.tar --for 2h'],
  isRemote: false,

  read({ words }, { cwd }) {
    const target = path.resolve(cwd, words[0] ?? '');
    return { input: { path: target }, words: `file ${target}` };
  },

  async look(input) {
    const facts = factsOf(String(input.path));
    const word = facts ? 'exists' : 'missing';
    return {
      kind: 'look',
      verdict: facts ? 'met' : 'pending',
      word,
      evidence: `${input.path} ${facts ? `exists (${facts.size} bytes)` : 'is not there'}`,
      key: word,
      facts: {},
      cursor: {},
    };
  },
} as const satisfies Watch;
