// docs/BACKENDS.md says of every backend what the code says: its profiles, its oldest version, a section of its own.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Backend, ProfileTerms } from '../../companion/src/backends/backend.ts';
import { backends } from '../../companion/src/backends/registry.ts';

const root = join(import.meta.dirname, '../..');
const document = readFileSync(join(root, 'docs/BACKENDS.md'), 'utf8');

function cell(terms: ProfileTerms | null): string {
  if (terms === null) return 'refused: it cannot be kept';
  const adds = terms.adds === '' ? 'nothing to add' : terms.adds.replaceAll('|', '\\|');
  return `${adds}${terms.sandbox === true ? ' (its own sandbox)' : ''}`;
}

const named: readonly Backend[] = backends.filter((backend) => backend.id !== 'custom');
for (const { id, oldest, profiles } of named) {
  test(`${id}: the table of profiles is that of the code, and there is a section`, () => {
    const { restricted, standard, unrestricted } = profiles;
    const row = `| ${[id, oldest ?? 'any', cell(restricted), cell(standard), cell(unrestricted)].join(' | ')} |`;
    assert.ok(document.includes(`\n${row}\n`), row);
    assert.match(document, new RegExp(`^## ${id}\\b`, 'm'));
  });
}

test('no profile but restricted is ever refused', () => {
  for (const { profiles } of named) assert.ok(profiles.standard !== null && profiles.unrestricted !== null);
});

test('every backend has recorded streams and a test with the CLI itself or a stand-in that says so', () => {
  const recorded = readdirSync(join(root, 'test/fixtures/agents'));
  const run = readdirSync(join(root, 'test/agents'));
  for (const { id } of named) assert.ok(run.includes(`${id}.test.ts`), id);
  for (const { id } of named) if (id !== 'cursor') assert.ok(recorded.includes(id), id);
});
