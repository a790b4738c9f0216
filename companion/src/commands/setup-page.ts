// What `setup` prints: one page for a terminal of 80 columns, or one document.
import type { ProfileTerms } from '../backends/backend.ts';
import type { UserConfig } from '../core/config.ts';
import type { Profile } from '../core/job.ts';
import { type ModeId, modes } from '../core/modes.ts';
import type { HookFinding } from '../jobs/hook-setup.ts';
import type { HookTrial } from '../jobs/hook-trial.ts';
import type { BackendSurvey } from '../jobs/survey.ts';
import { labelled } from '../output/wrap.ts';
import { defaultBackend, type Narrowing, narrowProfile } from '../store/narrow.ts';
import { editsText, hooksText, type TakenEdit } from './setup-edits.ts';

/** What a job of this mode gets without --backend and --profile. */
export interface ModeRow {
  mode: ModeId;
  /** Null: it must be named. */
  backend: string | null;
  /** Who says so. */
  backend_from: 'user' | 'state' | 'only_installed' | null;
  /** Can that backend be used as it is? Null without one. */
  usable: boolean | null;
  profile: Profile;
  restricted_by: 'user' | 'state' | null;
}

export interface SetupResult {
  surveys: BackendSurvey[];
  modes: ModeRow[];
  edits: TakenEdit[];
  isApplied: boolean;
  /** Was any change asked for? */
  isAsked: boolean;
  /** Of ours, as they stand now. */
  hooks: HookFinding[];
  /** Of the hook that was turned on; null when none was. */
  trial: HookTrial | null;
}

export function modeRows(surveys: readonly BackendSurvey[], config: UserConfig, narrowing: Narrowing): ModeRow[] {
  const installed = surveys.filter((one) => !one.custom && one.program !== null);
  const single = installed.length === 1 ? installed[0]?.backend : undefined;
  return Object.values(modes).map(({ id, profile }) => {
    const chosen = defaultBackend(id, config, narrowing);
    const lists = { user: config.restrict ?? [], state: narrowing.restrict };
    const by = (['user', 'state'] as const).find((one) => lists[one].includes(id)) ?? null;
    const restrictions = Object.values(lists).map((restrict) => ({ restrict, file: '' }));
    const backend = chosen?.name ?? single ?? null;
    return {
      mode: id,
      backend,
      backend_from: chosen?.from ?? (single === undefined ? null : 'only_installed'),
      usable: backend === null ? null : (surveys.find((one) => one.backend === backend)?.usable ?? false),
      profile: narrowProfile(id, { asked: undefined, fallback: profile }, restrictions),
      restricted_by: by,
    };
  });
}

export function setupDocument({ surveys, modes, edits, isApplied, hooks, trial }: SetupResult): unknown {
  const changes = edits.map(({ file, changes, copy }) => ({ file, changes, copy }));
  return { applied: isApplied, backends: surveys, modes, hooks, hook_trial: trial, changes };
}

export function setupPage({ surveys, modes, edits, isApplied, isAsked, hooks }: SetupResult): string {
  const isAsOfNow = edits.length > 0 && !isApplied;
  const parts = [...surveys.map(backendText), modesText(modes, isAsOfNow), hooksText(hooks, isAsOfNow)];
  if (isAsked) parts.push(editsText(edits, isApplied));
  return `${parts.join('\n\n')}\n`;
}

function backendText(survey: BackendSurvey): string {
  const { backend, version, program, not_executable, install, sign_in, faults } = survey;
  const head = `${backend}${version === null ? '' : `  ${version}`}  ${stateOf(survey)}`;
  if (program === null)
    return [head, ...labelled(not_executable ? 'blocked' : 'install', blockedText(not_executable) ?? install)].join(
      '\n',
    );
  const lines = [head, ...labelled('program', program)];
  if (survey.too_old) lines.push(...labelled('update', install));
  const signs = [...sign_in.files.map((file) => `~/${file}`), ...sign_in.variables];
  if (sign_in.state !== 'unknown')
    lines.push(...labelled('sign-in', signs.join(', ') || 'no sign of one (it may be in a keyring)'));
  for (const [profile, terms] of Object.entries(survey.profiles)) {
    const fault = faults[profile as Profile];
    lines.push(...labelled(profile, terms ? termsText(terms) : 'cannot be kept, is refused'));
    if (fault !== undefined) lines.push(...labelled('', `refused: ${fault}`));
  }
  return lines.join('\n');
}

function termsText({ adds, sandbox }: ProfileTerms): string {
  // Of a program of the user's own nobody knows.
  const known = sandbox === null ? '' : sandbox ? '; its own sandbox' : '; no sandbox of its own';
  return `${adds || 'as the program is'}${known}`;
}

function blockedText(file: string | null): string | null {
  return file === null ? null : `${file} is there and may not be executed; chmod +x it`;
}

function stateOf({ program, too_old, oldest, version, usable, custom }: BackendSurvey): string {
  if (program === null) return 'not found on PATH';
  if (too_old) return `too old: ${oldest} or newer is needed`;
  if (!usable) return 'refused: its settings leave no profile';
  if (custom) return 'found (your config)';
  return version === null ? 'found, version unknown' : 'found';
}

const who = { user: 'your config', state: 'this worktree', only_installed: 'the only one installed' };

function modesText(rows: readonly ModeRow[], isAsOfNow: boolean): string {
  const cells = rows.map((one) => [
    one.mode,
    one.backend_from === null
      ? 'to be named: --backend'
      : `${one.backend} (${who[one.backend_from]}${one.usable ? '' : '; not usable'})`,
    one.restricted_by === null ? one.profile : `restricted (${who[one.restricted_by]})`,
  ]);
  const widths = [0, 1].map((at) => Math.max(...cells.map((row) => (row[at] ?? '').length)) + 2);
  const lines = cells.map(
    ([mode, backend, profile]) => `  ${mode?.padEnd(widths[0] ?? 0)}${backend?.padEnd(widths[1] ?? 0)}${profile}`,
  );
  return [`Without --backend and --profile${isAsOfNow ? ', as it is now' : ''}:`, ...lines].join('\n');
}
