/** The real qwen in the cases of every agent CLI (matrix.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { profile } from '../lab/agents/qwen/profile.ts';
import { defineMatrix } from './matrix.ts';

const wide = {
  tools: { approvalMode: 'yolo', allowed: ['run_shell_command', 'write_file'] },
  permissions: { allow: ['Bash', 'Write', 'Edit'] },
};

defineMatrix(profile, {
  shellTool: /^run_shell_command$/,
  tellsToolStart: true,
  failures: {
    e401: { outcome: 'failed', code: 'auth', words: /Incorrect API key/ },
    e429: { outcome: 'failed', code: 'quota', words: /Rate limit/ },
    e500: { outcome: 'failed', code: 'agent_error', words: /The lab server had an error/ },
    cut: { outcome: 'failed', code: 'agent_error', words: /other side closed/ },
    empty: { outcome: 'failed', code: 'no_final_answer', words: /empty response/ },
  },
  store: ['.qwen/projects'],
  lost: { outcome: 'failed', code: 'session_lost', words: /No saved session found/ },
  denied: {
    shell: { outcome: 'done', warning: ['permission_denied', /run_shell_command/] },
    file: { outcome: 'done', warning: ['permission_denied', /run_shell_command/] },
  },
  widen({ dir }) {
    mkdirSync(join(dir, '.qwen'), { recursive: true });
    writeFileSync(join(dir, '.qwen/settings.json'), JSON.stringify(wide));
  },
  unoffered: { tool: 'write_file', expected: { outcome: 'done', warning: ['permission_denied', /write_file/] } },
  keepsCutTurn: true,
  cleanWarnings: { standard: ['no_sandbox'] },
});
