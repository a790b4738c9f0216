/** The real pi in the cases of every agent CLI (matrix.ts). */
import { profile } from '../lab/agents/pi/profile.ts';
import { noToolText } from '../lab/model-server/scenarios.mjs';
import { defineMatrix } from './matrix.ts';

const notOffered = { outcome: 'done', answer: new RegExp(`^${noToolText}$`) } as const;

defineMatrix(profile, {
  shellTool: /^bash$/,
  tellsToolStart: true,
  failures: {
    e401: { outcome: 'failed', code: 'auth', words: /Incorrect API key/ },
    e429: { outcome: 'failed', code: 'quota', words: /Rate limit/ },
    e500: { outcome: 'failed', code: 'agent_error', words: /The lab server had an error/ },
    cut: { outcome: 'failed', code: 'agent_error', words: /terminated: other side closed/ },
    empty: { outcome: 'failed', code: 'no_final_answer', words: /empty/ },
  },
  store: ['.pi/agent/sessions'],
  lost: { outcome: 'failed', code: 'session_lost', words: /No session found matching/ },
  denied: { shell: notOffered, file: notOffered },
  unoffered: { tool: 'bash', expected: { outcome: 'done', warning: ['permission_denied', /bash/] } },
  keepsCutTurn: true,
  cleanWarnings: { standard: ['no_sandbox'] },
});
