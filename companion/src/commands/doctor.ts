// `doctor [ID]`: explain a damaged, stuck or orphaned record and name the command that mends it. Changes nothing.
// `doctor --backend NAME` (doctor-backend.ts) is another question: does this agent CLI really answer?
import { usageError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { diagnose, diagnoseAll, type Finding } from '../jobs/diagnosis.ts';
import { type HookFinding, surveyHooks } from '../jobs/hook-setup.ts';
import { nextCommand } from '../jobs/next-commands.ts';
import { findWorktree } from '../platform/git-folder.ts';
import { bootId, pidNamespace } from '../platform/identity.ts';
import { findJob } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'explain a damaged, stuck or orphaned job; try out one agent CLI',
  form: '[ID | --backend NAME]',
  words: { min: 0, max: 1 },
  options: {
    backend: {
      kind: 'text',
      value: 'NAME',
      help: 'one real round trip with this agent CLI, restricted, in an empty folder (calls its model once)',
    },
    ...common,
  },
  notes:
    'Exit codes: 0 nothing is wrong, 3 something is. Changes nothing. With --backend: 0 when a complete answer came within ' +
    '2 minutes, 3 when not, with the reason in the words of the CLI; the CLI may keep that conversation in its own history.',
  examples: ['doctor', 'doctor run-mik3x9ab-4f7q2z', 'doctor --backend codex'],

  async run(context, input) {
    const backend = input.text('backend');
    if (backend !== undefined) {
      if (input.words.length > 0) throw usageError('cannot take a job ID and --backend together');
      const { doctorBackend } = await import('./doctor-backend.ts');
      return doctorBackend(context, backend, input.has('json'));
    }
    const root = context.root(input);
    const isThere = checkRoot(root.folder);
    const word = input.words[0];
    const findings =
      !isThere && word === undefined
        ? []
        : word === undefined
          ? await diagnoseAll(root)
          : [await diagnose(root, findJob(root, word))];
    const hooks = word === undefined ? surveyHooks(findWorktree(context.cwd) ?? context.cwd) : [];
    const broken = hooks.filter(({ problem }) => problem !== null);
    const isWrong = broken.length > 0 || findings.some((finding) => finding.problem !== null);
    const code = isWrong ? exitCodes.unsuccessful : exitCodes.done;
    if (input.has('json')) {
      return {
        code,
        json: { state_folder: root.folder, boot_id: bootId(), pid_namespace: pidNamespace(), findings, hooks },
      };
    }
    const text = [...findings.map(tell), ...broken.map(tellHook)].join('\n');
    return { code, out: `${text === '' ? `nothing is wrong in ${root.folder}` : text}\n` };
  },
};

function tell(finding: Finding): string {
  const lines = [`${finding.id}: ${finding.problem ?? 'nothing is wrong'}`, `  ${finding.facts.join(', ')}`];
  if (finding.next !== null) lines.push(`  next: ${finding.next}`);
  return lines.join('\n');
}

function tellHook({ host, file, problem, next }: HookFinding): string {
  return `hooks of ${host}: ${problem}\n  ${file}\n  next: ${nextCommand([], ...next)}`;
}
