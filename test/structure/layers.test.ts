/**
 * The architecture, held by tests: layers, cycles, and who may touch what is global. Each rule is shown to refuse a planted
 * violation of each of its clauses, so that none of them can go blind unnoticed.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { findCycles } from './rules/cycles.ts';
import { judgeLayers } from './rules/layers.ts';
import { judgeReach } from './rules/reach.ts';
import { makeSource, readSources } from './rules/source.ts';

const sources = readSources();

test('every source file imports only what its layer may', () => {
  assert.deepEqual(judgeLayers(sources), []);
});

test('no source files import each other in a circle', () => {
  assert.deepEqual(findCycles(sources), []);
});

test('clock, environment, signals, exit code and streams are touched only at home', () => {
  assert.deepEqual(judgeReach(sources), []);
});

test('the layer rule sees the real sources', () => {
  const paths = sources.map(({ path }) => path);
  assert.ok(paths.includes('main.ts'), 'companion/src/main.ts is not among the sources');
  assert.ok(paths.length > 10, `only ${paths.length} sources`);
});

const refusedImports: [path: string, text: string, reason: RegExp][] = [
  ['core/a.ts', "import { b } from '../store/b.ts';", /core may import no other layer/],
  ['core/a.ts', "import type { B } from '../platform/b.ts';", /core may import no other layer/],
  ['core/a.ts', "type B = import('../platform/b.ts').B;", /core may import no other layer/],
  ['core/a.ts', "import { join } from 'node:path';", /core uses no built-in modules/],
  ['core/a.ts', "import { z } from 'zod';", /packages of core: zod\/mini, ms/],
  ['platform/a.ts', "import { b } from '../engines/b.ts';", /platform may import core/],
  ['platform/a.ts', "import { execa } from 'execa';", /load it by await import/],
  ['platform/a.ts', "import fs from 'fs';", /built-ins begin with node:/],
  ['output/a.ts', "export * from '../store/b.ts';", /output may import core/],
  ['store/a.ts', "import { readFileSync } from 'node:fs';", /only platform and engines reach the machine/],
  ['store/a.ts', "import { readFile } from 'node:fs/promises';", /only platform and engines reach the machine/],
  ['store/a.ts', "const { spawn } = await import('node:child_process');", /only platform and engines/],
  ['store/a.ts', "const fs = require('node:fs');", /only platform and engines reach the machine/],
  ['store/a.ts', "import { env } from 'node:process';", /use the global/],
  ['backends/a.ts', "import { b } from '../jobs/b.ts';", /backends may import core, platform/],
  ['watches/a.ts', "import { b } from '../backends/b.ts';", /watches may import core, platform/],
  ['engines/a.ts', "import { b } from '../store/b.ts';", /engines may import core, platform/],
  ['jobs/a.ts', "import { b } from '../worker/b.ts';", /jobs may import/],
  ['jobs/a.ts', "const { b } = await import('../worker/b.ts');", /jobs may import/],
  ['loop/a.ts', "import { b } from '../worker/b.ts';", /loop may import/],
  ['worker/a.ts', "import { b } from '../output/b.ts';", /worker may import/],
  ['worker/a.ts', "import { b } from '../commands/b.ts';", /worker may import/],
  ['worker/a.ts', "import { spawn } from 'node:child_process';", /only platform and engines reach the machine/],
  ['commands/a.ts', "const { b } = await import('../worker/b.ts');", /commands may import/],
  ['commands/a.ts', "import { main } from '../main.ts';", /commands may import/],
  ['commands/a.ts', "import kleur from 'kleur';", /packages of commands: none/],
  ['main.ts', "import { b } from './worker/b.ts';", /by await import/],
  ['main.ts', "import type { B } from './worker/b.ts';", /by await import/],
  ['main.ts', "import { b } from './jobs/b.ts';", /main.ts may import/],
  ['main.ts', "import { b } from '../../test/b.ts';", /nothing outside companion\/src/],
];
for (const [path, text, reason] of refusedImports) {
  test(`the layer rule refuses in ${path}: ${text}`, () => {
    const faults = judgeLayers([makeSource(path, text)]);
    assert.equal(faults.length, 1);
    assert.match(faults[0]!, reason);
    assert.match(faults[0]!, new RegExp(`^${path}:1: `));
  });
}

test('the layer rule refuses a file that belongs to no layer', () => {
  for (const path of ['extra.ts', 'common/a.ts', 'core', 'main.ts/a.ts']) {
    assert.match(judgeLayers([makeSource(path, '')])[0]!, /belongs to no layer/);
  }
});

test('the layer rule refuses a backend that leans on another one of the registry', () => {
  const planted = [
    makeSource('backends/registry.ts', "import { a } from './a.ts';\nimport type { Backend } from './backend.ts';"),
    makeSource('backends/a.ts', "import { lines } from './lines.ts';\nimport type { Backend } from './backend.ts';"),
    makeSource('backends/b.ts', "import { a } from './a.ts';"),
  ];
  assert.deepEqual(judgeLayers(planted), [
    'backends/b.ts:1: imports ./a.ts; the registry lists it, so its neighbours may not lean on it',
  ]);
});

test('the layer rule lets through what the table allows', () => {
  const planted = [
    makeSource('core/a.ts', "import * as z from 'zod/mini';\nimport ms from 'ms';\nimport { b } from './b.ts';"),
    makeSource('platform/a.ts', "import fs from 'node:fs';\nconst { execa } = await import('execa');"),
    makeSource('store/a.ts', "import { join } from 'node:path';\nimport { createHmac } from 'node:crypto';"),
    makeSource('engines/a.ts', "import { spawn } from 'node:child_process';"),
    makeSource('worker/a.ts', "import shim from './shim.sh';\nimport { b } from '../jobs/b.ts';"),
    makeSource('main.ts', "const { work } = await import('./worker/main.ts');\nimport { b } from './commands/b.ts';"),
    makeSource('types.d.ts', ''),
  ];
  assert.deepEqual(judgeLayers(planted), []);
});

test('the cycle rule finds a circle of three, through a type import too', () => {
  const planted = [
    makeSource('core/a.ts', "import { b } from './b.ts';"),
    makeSource('core/b.ts', "import type { C } from './c.ts';"),
    makeSource('core/c.ts', "export { a } from './a.ts';"),
  ];
  assert.deepEqual(findCycles(planted), ['core/a.ts -> core/b.ts -> core/c.ts -> core/a.ts']);
});

test('the cycle rule lets a dynamic import close the circle', () => {
  const planted = [
    makeSource('core/a.ts', "import { b } from './b.ts';"),
    makeSource('core/b.ts', "const { a } = await import('./a.ts');"),
  ];
  assert.deepEqual(findCycles(planted), []);
});

const refusedUses: [path: string, text: string][] = [
  ['commands/a.ts', 'process.exit(1);'],
  ['worker/a.ts', 'process.exitCode = 1;'],
  ['output/a.ts', "process.stdout.write('x');"],
  ['jobs/a.ts', "process.stderr.write('x');"],
  ['jobs/a.ts', "console.log('x');"],
  ['platform/spawn.ts', 'const { PATH } = process.env;'],
  ['platform/spawn.ts', "const path = process['env'];"],
  ['platform/spawn.ts', 'const { env } = process;'],
  ['platform/spawn.ts', 'const path = globalThis.process.env;'],
  ['engines/a.ts', 'process.kill(2);'],
  ['worker/a.ts', 'const now = Date.now();'],
  ['core/a.ts', 'const now = new Date();'],
  ['core/a.ts', 'const now = Date();'],
  ['store/a.ts', 'const now = performance.now();'],
  ['store/a.ts', 'const now = process.hrtime.bigint();'],
  ['core/a.ts', 'const id = Math.random();'],
  ['core/a.ts', 'const id = crypto.randomUUID();'],
];
for (const [path, text] of refusedUses) {
  test(`the reach rule refuses in ${path}: ${text}`, () => {
    const faults = judgeReach([makeSource(path, text)]);
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0]!, new RegExp(`^${path}:1: .* is at home in `));
  });
}

test('the reach rule lets each thing be used at home, and ignores comments, strings and fixed dates', () => {
  const planted = [
    makeSource('main.ts', "process.exitCode = 1; process.stdout.write('x');"),
    makeSource('platform/env.ts', 'export const path = process.env.PATH;'),
    makeSource('platform/clock.ts', 'export const now = () => Date.now() + performance.now();'),
    makeSource('platform/process-tree.ts', 'process.kill(2, 0);'),
    makeSource('core/a.ts', "// process.exit(1)\nconst text = 'process.env';\nconst date = new Date(0);"),
    makeSource('worker/a.ts', 'const me = process.pid; const found = job.process.exit; spec.env.kill();'),
  ];
  assert.deepEqual(judgeReach(planted), []);
});
