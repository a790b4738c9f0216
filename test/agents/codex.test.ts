/** The real codex in the cases of every agent CLI (matrix.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configureCodex, profile } from '../lab/agents/codex/profile.ts';
import { defineMatrix } from './matrix.ts';

const wide = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';

defineMatrix(profile, {
  shellTool: /^command_execution$/,
  tellsToolStart: true,
  failures: {
    e401: { outcome: 'failed', code: 'auth', words: /401 Unauthorized: Incorrect API key/ },
    e429: { outcome: 'failed', code: 'quota', words: /429 Too Many Requests/ },
    e500: { outcome: 'failed', code: 'agent_error', words: /high demand/ },
    cut: { outcome: 'failed', code: 'agent_error', words: /stream disconnected/ },
    empty: { outcome: 'failed', code: 'no_final_answer', words: /empty/ },
  },
  store: ['.codex'],
  lost: { outcome: 'failed', code: 'session_lost', words: /no rollout found/ },
  // The sandbox of codex refuses inside the command: no tool is taken away and nothing is reported as denied.
  denied: {
    shell: { outcome: 'done', answer: /Read-only file system/ },
    file: { outcome: 'done', answer: /Read-only file system/ },
  },
  widen(place) {
    configureCodex(place, wide);
    mkdirSync(join(place.dir, '.codex'));
    writeFileSync(join(place.dir, '.codex/config.toml'), wide);
  },
  keepsCutTurn: true,
});
