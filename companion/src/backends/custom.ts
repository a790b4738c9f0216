// A program that the user's own config names as a backend: any command line that takes a task and prints an answer.
// It writes no stream, so the whole of stdout is the answer and the exit code is the final event. It keeps no
// conversation, and no profile can be forced on it: `restricted` is refused, the others mean what the program does.
import type { Backend, StaffPlan, StaffRequest } from './backend.ts';

const placeholders = { argument: '{prompt}', file: '{prompt_file}' };

export const custom = {
  id: 'custom',
  title: 'a program of your config',
  programs: [],
  answerFrom: 'stdout',
  keepsConversation: false,
  resumesElsewhere: false,
  profiles: {
    restricted: null,
    standard: { adds: '', sandbox: null },
    unrestricted: { adds: '', sandbox: null },
  },
  oldest: null,
  packages: [],
  install: 'name it in "backends" of your config',
  signIn: { files: [], variables: [] },
  hostMarkers: [],
  runsOn: { tokens: false, cost: false },

  plan(request) {
    if (!request.custom) throw new Error('a custom backend needs its definition');
    const { argv, prompt: promptBy } = request.custom;
    const args = promptBy === 'stdin' ? argv.slice(1) : fill(argv.slice(1), promptBy, request);
    return {
      args,
      promptBy,
      stdin: promptBy === 'stdin' ? request.prompt : '',
      environment: {},
      conversationId: null,
      remove: [],
    };
  },

  // The answer is stdout as it is; there are no events.
  read() {},

  close(reading, ending) {
    // A program that obeys our TERM with exit 0 has not finished its answer.
    if (ending.byItself && ending.exitCode === 0) reading.final = 'success';
  },
} as const satisfies Backend;

/** Puts the prompt (or the path of its file) where the words name it, else last. One pass: what is put in stays as it is. */
function fill(words: readonly string[], by: Exclude<StaffPlan['promptBy'], 'stdin'>, request: StaffRequest): string[] {
  const placeholder = placeholders[by];
  const value = by === 'file' ? request.promptFile : request.prompt;
  if (!words.some((word) => word.includes(placeholder))) return [...words, value];
  return words.map((word) => word.replaceAll(placeholder, () => value));
}
