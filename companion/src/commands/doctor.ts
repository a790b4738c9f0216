// `doctor [ID]`: explain a damaged, stuck or orphaned record and name the command that mends it. Changes nothing.
import { exitCodes } from '../core/exit-codes.ts';
import { diagnose, diagnoseAll, type Finding } from '../jobs/diagnosis.ts';
import { bootId, pidNamespace } from '../platform/identity.ts';
import { findJob } from '../store/catalog.ts';
import { checkRoot } from '../store/root.ts';
import type { Command } from './command.ts';
import { common } from './options.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'explain a damaged, stuck or orphaned job and name the mending command',
  form: '[ID]',
  words: { min: 0, max: 1 },
  options: common,
  notes: 'Exit codes: 0 nothing is wrong, 3 something is. Changes nothing.',
  examples: ['doctor', 'doctor run-mik3x9ab-4f7q2z'],

  async run(context, input) {
    const root = context.root(input);
    const isThere = checkRoot(root.folder);
    const word = input.words[0];
    const findings =
      !isThere && word === undefined
        ? []
        : word === undefined
          ? await diagnoseAll(root)
          : [await diagnose(root, findJob(root, word))];
    const isWrong = findings.some((finding) => finding.problem !== null);
    const code = isWrong ? exitCodes.unsuccessful : exitCodes.done;
    if (input.has('json')) {
      return { code, json: { state_folder: root.folder, boot_id: bootId(), pid_namespace: pidNamespace(), findings } };
    }
    const text = findings.map(tell).join('\n');
    return { code, out: `${text === '' ? `nothing is wrong in ${root.folder}` : text}\n` };
  },
};

function tell(finding: Finding): string {
  const lines = [`${finding.id}: ${finding.problem ?? 'nothing is wrong'}`, `  ${finding.facts.join(', ')}`];
  if (finding.next !== null) lines.push(`  next: ${finding.next}`);
  return lines.join('\n');
}
