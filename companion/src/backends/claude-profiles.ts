// What a profile means on claude's command line, tried on 2.1.197 and 2.1.332 against planted user settings (Bash(*) allowed,
// bypassPermissions, hooks off), project settings, hooks and MCP servers.
import type { StaffRequest } from './backend.ts';

/** Arguments and environment of the request's profile. */
export function planClaudeProfile(request: StaffRequest): { args: string[]; environment: Record<string, string> } {
  switch (request.profile) {
    case 'restricted':
      return { args: planRestricted(request), environment: { GIT_OPTIONAL_LOCKS: '0' } };
    case 'standard':
      return { args: planStandard(request), environment: {} };
    case 'unrestricted':
      // Without IS_SANDBOX claude refuses this mode to root, and containers run as root. The caller has asked for it by name.
      return { args: ['--permission-mode=bypassPermissions'], environment: { IS_SANDBOX: '1' } };
  }
}

/**
 * No tool that writes is there at all. Bash is, for git: claude's own check lets only harmless commands through unasked, but a rule
 * in the user's settings would widen it, so a hook of ours refuses whatever is not plain git reading. A hook's refusal
 * beats every rule. The user's settings stay in (they may hold the sign-in); those of the project, which a cloned repository can
 * bring along with hooks and MCP servers, stay out.
 */
function planRestricted({ mode }: StaffRequest): string[] {
  const web = mode === 'research' ? ['WebFetch', 'WebSearch'] : [];
  const hook = { matcher: 'Bash', hooks: [{ type: 'command', command: guard }] };
  return [
    '--permission-mode=dontAsk',
    `--tools=${['Read', 'Grep', 'Glob', 'Bash', ...web].join(',')}`,
    ...(web.length > 0 ? [`--allowedTools=${web.join(',')}`] : []),
    '--strict-mcp-config',
    '--setting-sources=user',
    `--settings=${JSON.stringify({ disableAllHooks: false, hooks: { PreToolUse: [hook] } })}`,
  ];
}

/**
 * A hook gets the call as one line of JSON and refuses with exit 2. Taken out of it is the command; a quote, an escape or anything
 * else that means something to a shell is refused with it. `--output` writes a file; git also takes the beginning of an option for it.
 */
const guard = [
  `IFS= read -r call; command=\${call#*'"command":"'}; [ "$command" != "$call" ] || command=`,
  `command=\${command%%'"'*}`,
  'case "$command " in',
  '*[!A-Za-z0-9\\ ./_=:^~@,+%-]*|*" --o"[!n]*|*" -O"*|*" --ext"*) ;;',
  '"git diff "*|"git log "*|"git show "*|"git status "*|"git blame "*|"git ls-files "*) exit 0 ;;',
  'esac',
  'echo "Only plain git diff, log, show, status, blame and ls-files can be run here." >&2',
  'exit 2',
].join('\n');

/**
 * Edits in the workspace and every command run unasked; what is left to ask for is refused, for nobody is there. A rule keeps the
 * file tools out of the state folder (commands are not bound by it).
 */
function planStandard({ stateRoot, writable }: StaffRequest): string[] {
  // In a rule these would be a pattern. Rare enough to do without it.
  const isPattern = /[*?[\]{}()!\\]/.test(stateRoot);
  return [
    '--permission-mode=acceptEdits',
    '--allowedTools=Bash,WebFetch,WebSearch',
    ...(isPattern ? [] : [`--settings=${JSON.stringify({ permissions: { deny: [`Edit(/${stateRoot}/**)`] } })}`]),
    ...writable.map((folder) => `--add-dir=${folder}`),
  ];
}
