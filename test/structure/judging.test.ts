/**
 * S0.71 by structure: what judges a run or an agent can send no signal to it. The files below reach nothing that ends or signals a process, but for the one
 * function that ends what a probe left behind.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const sources = join(import.meta.dirname, '../../companion/src');
const judging = [
  ...['core/health.ts', 'core/activity.ts', 'core/cpu-use.ts', 'core/probe-answer.ts', 'platform/tree-usage.ts'],
  ...['core/liveness.ts', 'platform/git-head.ts', 'platform/open-connections.ts', 'jobs/own-jobs.ts'],
  ...['agent-liveness', 'agent-tree', 'note-trouble'].map((name) => `worker/${name}.ts`),
  ...['checkpoints', 'health-cursor', 'judging', 'probe', 'sampler', 'stall'].map((name) => `worker/${name}.ts`),
];
/** Names by which something is ended or asked to end. */
const endings =
  /\b(?:terminate|signal\w*Identity|signalGroup|claimReason|conclude\w*|settle\w*|stopTree|cancel\w*|createFile|process\.kill)\b/;

for (const file of judging) {
  test(`${file} can end nothing of the command`, () => {
    const code = readFileSync(join(sources, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    assert.doesNotMatch(code, endings);
    const fromTree = /import (.*) from '..\/platform\/process-tree.ts'/.exec(code)?.[1];
    assert.ok(fromTree === undefined || fromTree === '{ endProbes }', fromTree);
  });
}
