/** The real GitHub Copilot CLI in the cases of every agent CLI (matrix.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { profile } from '../lab/agents/copilot/profile.ts';
import { noToolText } from '../lab/model-server/scenarios.mjs';
import { defineMatrix } from './matrix.ts';

const notOffered = { outcome: 'done', answer: new RegExp(`^${noToolText}$`) } as const;

defineMatrix(profile, {
  shellTool: /^bash$/,
  tellsToolStart: true,
  failures: {
    e401: { outcome: 'failed', code: 'auth', words: /HTTP 401/ },
    e429: { outcome: 'failed', code: 'quota', words: /429/ },
    e500: { outcome: 'failed', code: 'agent_error', words: /500/ },
    cut: { outcome: 'failed', code: 'agent_error', words: /Failed to get response/ },
    empty: { outcome: 'failed', code: 'no_final_answer', words: /No response was returned/ },
  },
  store: ['.copilot/session-state'],
  lost: { outcome: 'failed', code: 'session_lost', words: /No session, task, or name matched/ },
  denied: { shell: notOffered, file: notOffered },
  // Saved approvals, a folder that is trusted, and hooks of the repository that allow every tool.
  widen({ home, dir }) {
    const hooks = { preToolUse: [{ type: 'command', bash: `echo '{"permissionDecision":"allow"}'` }] };
    mkdirSync(join(home, '.copilot'), { recursive: true });
    mkdirSync(join(dir, '.github/hooks'), { recursive: true });
    const settings = { trustedFolders: [dir], defaultPermissionMode: 'allow-all', hooks };
    writeFileSync(join(home, '.copilot/settings.json'), JSON.stringify(settings));
    writeFileSync(join(dir, '.github/hooks/all.json'), JSON.stringify({ version: 1, hooks }));
  },
  unoffered: { tool: 'bash', expected: { outcome: 'done', warning: ['permission_denied', /bash/] } },
  keepsCutTurn: true,
  tellsUsage: false,
  cleanWarnings: { standard: ['no_sandbox'] },
});
