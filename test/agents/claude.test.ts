/** The real claude in the cases of every agent CLI (matrix.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { profile } from '../lab/agents/claude/profile.ts';
import { defineMatrix } from './matrix.ts';

const wide = { permissions: { allow: ['Bash(*)', 'Write', 'Edit'], defaultMode: 'bypassPermissions' } };

defineMatrix(profile, {
  shellTool: /^Bash$/,
  tellsToolStart: true,
  failures: {
    e401: { outcome: 'failed', code: 'auth', words: /Incorrect API key/ },
    e429: { outcome: 'failed', code: 'quota', words: /Rate limit/ },
    e500: { outcome: 'failed', code: 'agent_error', words: /The lab server had an error/ },
    cut: { outcome: 'failed', code: 'agent_error', words: /Connection to the API was lost/ },
    empty: { outcome: 'failed', code: 'no_final_answer', words: /empty/ },
  },
  store: ['.claude/projects'],
  lost: { outcome: 'failed', code: 'session_lost', words: /No conversation found/ },
  // Of the tools that write only Bash is there, and only for git.
  denied: {
    shell: { outcome: 'done', warning: ['permission_denied', /Bash/] },
    file: { outcome: 'done', warning: ['permission_denied', /Bash/] },
  },
  widen({ home, dir }) {
    for (const folder of [home, dir]) {
      mkdirSync(join(folder, '.claude'), { recursive: true });
      writeFileSync(join(folder, '.claude/settings.json'), JSON.stringify(wide));
    }
  },
  unoffered: { tool: 'Write', expected: { outcome: 'done', warning: ['permission_denied', /Write/] } },
  keepsCutTurn: true,
  cleanWarnings: { standard: ['no_sandbox'] },
});
