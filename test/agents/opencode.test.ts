/** The real opencode in the cases of every agent CLI (matrix.ts). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { profile } from '../lab/agents/opencode/profile.ts';
import { noToolText } from '../lab/model-server/scenarios.mjs';
import { defineMatrix } from './matrix.ts';

const notOffered = { outcome: 'done', answer: new RegExp(`^${noToolText}$`) } as const;

defineMatrix(profile, {
  shellTool: /^bash$/,
  tellsToolStart: false,
  failures: {
    e401: { outcome: 'failed', code: 'auth', words: /Incorrect API key/ },
    e429: { outcome: 'failed', code: 'quota', words: /Rate limit/ },
    e500: { outcome: 'failed', code: 'agent_error', words: /The lab server had an error/ },
    cut: { outcome: 'failed', code: 'agent_error' },
    empty: { outcome: 'failed', code: 'no_final_answer', words: /empty/ },
  },
  store: ['.local/share/opencode'],
  lost: { outcome: 'failed', code: 'session_lost', words: /Session not found/ },
  denied: { shell: notOffered, file: notOffered },
  unoffered: { tool: 'bash', expected: { outcome: 'done', warning: ['permission_denied', /bash/] } },
  widen({ dir }) {
    const permission = { '*': 'allow', bash: 'allow', edit: 'allow' };
    const agent = { build: { permission }, 'job-companion-restricted': { permission, tools: { bash: true } } };
    writeFileSync(
      join(dir, 'opencode.json'),
      JSON.stringify({ permission, agent, tools: { bash: true, write: true } }),
    );
  },
  keepsCutTurn: true,
  cleanWarnings: { standard: ['no_sandbox'] },
});
