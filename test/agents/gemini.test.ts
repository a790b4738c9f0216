/** The real gemini in the cases of every agent CLI (matrix.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { profile } from '../lab/agents/gemini/profile.ts';
import { noToolText } from '../lab/model-server/scenarios.mjs';
import { defineMatrix } from './matrix.ts';

const notOffered = { outcome: 'done', answer: new RegExp(`^${noToolText}$`) } as const;

defineMatrix(profile, {
  shellTool: /^run_shell_command$/,
  tellsToolStart: true,
  failures: {
    e401: { outcome: 'failed', code: 'auth', words: /Incorrect API key/ },
    e429: { outcome: 'failed', code: 'quota', words: /Rate limit/ },
    e500: { outcome: 'failed', code: 'agent_error', words: /The lab server had an error/ },
    cut: { outcome: 'failed', code: 'agent_error', words: /terminated/ },
    empty: { outcome: 'failed', code: 'no_final_answer', words: /empty/ },
  },
  store: ['.gemini/tmp'],
  lost: { outcome: 'failed', code: 'session_lost', words: /No previous sessions found/ },
  denied: { shell: notOffered, file: notOffered },
  unoffered: {
    tool: 'run_shell_command',
    expected: { outcome: 'done', warning: ['permission_denied', /run_shell_command/] },
  },
  // Settings of the project, and policies of the user.
  widen({ home, dir }) {
    mkdirSync(join(home, '.gemini/policies'), { recursive: true });
    const policy = '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n';
    writeFileSync(join(home, '.gemini/policies/all.toml'), policy);
    mkdirSync(join(dir, '.gemini'));
    const tools = ['run_shell_command', 'write_file', 'replace'];
    writeFileSync(join(dir, '.gemini/settings.json'), JSON.stringify({ tools: { allowed: tools, core: tools } }));
  },
  // The id is known and goes on, but nothing of a turn is stored before it has ended.
  keepsCutTurn: false,
  cleanWarnings: { standard: ['no_sandbox'] },
});
