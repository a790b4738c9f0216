// `verify ID`: what the answer of a job claims, held against what is there. 0 only when nothing is contradicted and nothing had to be left open.

import { claimsExample } from '../core/claims.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { limits } from '../core/limits.ts';
import { parseProgramWords } from '../core/notify-words.ts';
import { nextCommands } from '../jobs/next-commands.ts';
import { refresh } from '../jobs/reconcile.ts';
import { isEnded } from '../jobs/view.ts';
import { endBySignal, onInterrupt } from '../platform/interrupt.ts';
import { findJob } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';
import { claimsDocument, claimsNotes, claimsPage } from './verify-page.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'check what a job claims to have done',
  form: 'ID [--rerun CMD]',
  words: { min: 1, max: 1 },
  options: {
    rerun: {
      kind: 'text',
      value: 'CMD',
      help: 'run the tests again in the folder of the job: words, or a JSON array; no shell; 0 is a pass',
    },
    'rerun-timeout': {
      kind: 'duration',
      value: 'D',
      range: limits.rerun,
      help: 'how long --rerun may take (default 2m, at most 1h)',
    },
    ...common,
  },
  notes: [
    'Reads the completion block of the answer (result ID --claims): commits, changed files, tests, status.',
    'Each claim is verified, contradicted, unverifiable or only recorded. Nothing that an agent names is run; --rerun runs your own command, on files that an agent wrote, also where there is no block.',
    'Exit codes: 0 nothing is contradicted or unverifiable, 2 the job is not finished, 3 otherwise (also without a block).',
    '',
    'implement asks for it; for any other verb the task must: "End with one fenced block like this, and claim only what you really did". status is done, partial or blocked (with blockedReason); the lists may be missing:',
    claimsExample,
  ].join('\n'),
  examples: ['verify implement-mik3x9ab-4f7q2z', 'verify implement-mik3x9ab-4f7q2z --rerun "npm test" --json'],

  async run(context, input) {
    const root = context.root(input);
    checkRoot(root.folder);
    const text = input.text('rerun');
    const words = text === undefined ? null : parseProgramWords(text, '--rerun');
    const id = findJob(root, input.words[0] ?? '');
    const view = await refresh(root.folder, id, true);
    if (view.damage === null && !isEnded(view.state)) {
      const wait = nextCommands.waitOn(id, view.spec, root.option);
      const notes = [`${id}: ${view.state.state}, there is nothing to verify yet; wait for it with:`, wait];
      const json = { id, state: view.state.state, verdict: null, claims: [], error: null, next: wait };
      return { code: exitCodes.pending, ...(input.has('json') ? { json } : { notes }) };
    }
    const { verifyClaims } = await import('../jobs/claims/verify.ts');
    // Ctrl-C ends the tests as well.
    const stop = new AbortController();
    const rerun = async (cwd: string) => {
      const { rerunTests } = await import('../jobs/claims/rerun.ts');
      const timeoutMs = input.durationOrDefault('rerun-timeout');
      const release = onInterrupt((signal) => {
        stop.abort(signal);
      });
      const done = await rerunTests(words ?? [], { cwd, timeoutMs, signal: stop.signal });
      release();
      if (stop.signal.aborted) endBySignal(stop.signal.reason);
      return done;
    };
    const verification = await verifyClaims(view, words && rerun);
    const code = verification.verdict === 'verified' ? exitCodes.done : exitCodes.unsuccessful;
    if (input.has('json')) return { code, json: claimsDocument(view, verification) };
    return {
      code,
      out: claimsPage(view, verification, context.width),
      notes: claimsNotes(view, verification, context.width),
    };
  },
};
