// E3: there is something that runs tests, as far as files can tell. Whether the acceptance can be said as a test is a question.
import path from 'node:path';
import { isFile } from '../../platform/folders.ts';
import { nextMilestone } from '../files.ts';
import { acceptanceOf } from '../handoff.ts';
import { type Check, fail, pass, skipped } from './check.ts';

/** Files that a test runner, a linter or a type checker leaves in a repository. */
const signs = [
  ...[
    'package.json',
    'tsconfig.json',
    'biome.json',
    'eslint.config.js',
    'pyproject.toml',
    'pytest.ini',
    'setup.cfg',
    'tox.ini',
    'ruff.toml',
    'mypy.ini',
  ],
  ...[
    'Makefile',
    'justfile',
    'Cargo.toml',
    'go.mod',
    'pom.xml',
    'build.gradle',
    'build.gradle.kts',
    'CMakeLists.txt',
    'Gemfile',
    'composer.json',
    'mix.exs',
    'deno.json',
  ],
];

export const harness: Check = {
  id: 'E3',
  title: 'harness',

  run({ state, place }) {
    if (!state) return skipped('the state cannot be read');
    const found = signs.filter((name) => isFile(path.join(place.worktree, name)));
    if (found.length === 0 && state.verify.length === 0)
      return fail('E3', [
        { owner: 'developer', what: 'neither a verify command nor a known test, lint or type configuration was found' },
      ]);
    const next = nextMilestone(state);
    const questions = next
      ? [
          {
            id: 'E3',
            check: 'E3' as const,
            question: `Can the acceptance of ${next.id} (${acceptanceOf(next).join('; ')}) be said as tests in this harness?`,
          },
        ]
      : [];
    return {
      ...pass(`${state.verify.length} verify commands; found: ${found.join(', ') || 'no configuration file'}`),
      questions,
    };
  },
};
