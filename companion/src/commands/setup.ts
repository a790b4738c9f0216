// `setup`: what is installed and permitted, per backend and per mode, and the few choices that are kept in files. Shows what it would
// write unless --apply; never calls a model, never shows a value of a credential.
import { usageError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { type HookHost, hookHosts } from '../core/hooks.ts';
import { findMode, type ModeId, modeIds } from '../core/modes.ts';
import { planHooks, surveyHooks } from '../jobs/hook-setup.ts';
import { tryHook } from '../jobs/hook-trial.ts';
import { applyEdits, type Choices, planReadRules, planStateEdit, planUserEdit, type SetupEdit } from '../jobs/setup.ts';
import { knownBackends } from '../jobs/staff-request.ts';
import { surveyBackends } from '../jobs/survey.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { readUserConfig } from '../store/config.ts';
import { readNarrowing } from '../store/narrow.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';
import type { Parsed } from './parse.ts';
import { hooksPage } from './setup-hooks.ts';
import { modeRows, setupDocument, setupPage } from './setup-page.ts';

export const setup: Command = {
  name: 'setup',
  summary: 'show what is installed and permitted; keep choices with --apply',
  form: '[--backend NAME] [--restrict MODES] [--default-backend WORDS] [--hooks HOST] [--apply]',
  words: { min: 0, max: 0 },
  options: {
    backend: { kind: 'text', value: 'NAME', help: 'show this backend only' },
    restrict: {
      kind: 'text',
      value: 'MODES',
      help: `modes that always run restricted, with commas (${modeIds.join(', ')}), or none`,
    },
    'default-backend': {
      kind: 'text',
      value: 'WORDS',
      help: 'NAME for all modes, or MODE=NAME,...; none takes all away, MODE=none one',
    },
    hooks: {
      kind: 'choice',
      choices: [...hookHosts, 'none'],
      value: 'HOST',
      help: 'let claude or codex tell you in its sessions of finished jobs and of jobs that wake nobody. claude: in .claude/settings.local.json of this worktree, with --user in ~/.claude/settings.json; codex: in ~/.codex/hooks.json. none takes them away from both, the worktree and your own settings; with --user from your own only',
    },
    user: {
      kind: 'flag',
      help: 'keep these choices in your own config or settings, for every worktree, not in this one',
    },
    'allow-reads': {
      kind: 'flag',
      help: 'with --backend agy: add rules to its settings that let a restricted run look around in this worktree',
    },
    apply: { kind: 'flag', help: 'really write; a copy of every changed file stays beside it' },
    ...common,
  },
  notes:
    'The state folder can only narrow: its default counts where your own config leaves the choice open. No model is called: ' +
    'whether a sign-in is valid shows "doctor --backend NAME".\nExit codes: 0 shown or written, 1 refused.',
  examples: [
    'setup',
    'setup --restrict review,ask --apply',
    'setup --default-backend codex,review=claude --user --apply',
    'setup --backend agy --allow-reads',
    'setup --hooks claude --apply',
  ],

  async run(context, input) {
    const root = context.root(input);
    const config = readUserConfig();
    const known = knownBackends(config);
    const only = input.text('backend');
    if (only !== undefined && !known.includes(only)) throw unknownBackend('--backend', only, known);
    const choices = { restrict: restrictOf(input), defaults: defaultsOf(input, known) };
    checkTogether(input, choices);

    checkRoot(root.folder);
    const narrowing = readNarrowing(root.folder, known);
    const folder = findWorktree(context.cwd) ?? context.cwd;
    const edits = [
      ...(input.has('user') ? planUserEdit(config, choices) : planStateEdit(root, narrowing, choices, config)),
      ...(input.has('allow-reads') ? planReadRules(folder) : []),
      ...planHookEdits(input, folder),
    ];
    const isApplied = input.has('apply');
    const copies = isApplied ? await applyEdits(root, edits) : [];

    const host = input.text('hooks') ?? 'none';
    const trial = isApplied && host !== 'none' ? await tryHook(host as HookHost, folder) : null;

    const isChanged = isApplied && edits.length > 0;
    const now = isChanged
      ? { config: readUserConfig(), narrowing: readNarrowing(root.folder, known) }
      : { config, narrowing };
    const surveys = surveyBackends(now.config, context.cwd);
    const page = {
      surveys: surveys.filter(({ backend }) => only === undefined || backend === only),
      modes: modeRows(surveys, now.config, now.narrowing),
      edits: edits.map((edit, at) => ({ ...edit, copy: copies[at] ?? null })),
      isApplied,
      isAsked: wantsChange(input),
      hooks: surveyHooks(folder),
      trial,
    };
    if (input.has('json')) return { code: exitCodes.done, json: setupDocument(page) };
    return {
      code: exitCodes.done,
      out: input.has('hooks') ? hooksPage(page, { isOn: host !== 'none', option: root.option }) : setupPage(page),
    };
  },
};

function wantsChange(input: Parsed): boolean {
  return ['restrict', 'default-backend', 'allow-reads', 'hooks'].some((name) => input.has(name));
}

function checkTogether(input: Parsed, { restrict, defaults }: Choices): void {
  if (input.has('allow-reads') && input.text('backend') !== 'agy')
    throw usageError('cannot take --allow-reads without --backend agy: only agy needs such rules');
  if (input.has('user') && restrict === undefined && defaults === undefined && !input.has('hooks'))
    throw usageError(
      'cannot take --user without --restrict, --default-backend or --hooks: it says where these are kept',
    );
}

function planHookEdits(input: Parsed, folder: string): SetupEdit[] {
  const word = input.text('hooks');
  if (word === undefined) return [];
  return planHooks(folder, word === 'none' ? null : (word as HookHost), input.has('user'));
}

function restrictOf(input: Parsed): ModeId[] | undefined {
  const text = input.text('restrict');
  if (text === undefined) return undefined;
  if (text === 'none') return [];
  return [...new Set(text.split(',').map((word) => modeOf('--restrict', word)))];
}

function defaultsOf(input: Parsed, known: readonly string[]): Choices['defaults'] {
  const option = '--default-backend';
  const text = input.text('default-backend');
  if (text === undefined) return undefined;
  const result: NonNullable<Choices['defaults']> = { clear: false, all: undefined, modes: {} };
  for (const word of text.split(',')) {
    const [first = '', name, ...more] = word.split('=');
    const backend = name ?? first;
    if (more.length > 0 || (backend !== 'none' && !known.includes(backend))) throw unknownBackend(option, word, known);
    if (name !== undefined) result.modes[modeOf(option, first)] = backend === 'none' ? null : backend;
    else if (backend === 'none') result.clear = true;
    else result.all = backend;
  }
  return result;
}

function modeOf(option: string, word: string): ModeId {
  const mode = findMode(word);
  if (mode) return mode.id;
  throw usageError(`cannot take ${option} ${JSON.stringify(word)}: the modes are ${modeIds.join(', ')}`);
}

function unknownBackend(option: string, word: string, known: readonly string[]): Error {
  return usageError(
    `cannot take ${option} ${JSON.stringify(word)}: the backends are ${known.join(', ')}`,
    'your own programs go into "backends" of ~/.config/job-companion/config.json',
  );
}
