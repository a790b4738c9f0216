/**
 * Holds the table of feature rows (test/acceptance/rows) and its tests together: each row has exactly one test whose name
 * begins with its id, or one of the few reasons that row.ts permits for it; and no test there names anything else.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { hostRows, laterRows, type Row, type Section } from '../../acceptance/rows/row.ts';

export interface NamedTest {
  readonly file: string;
  /** undefined: the name is not plain text, so that nobody can look for it. */
  readonly name: string | undefined;
}

interface Permitted {
  readonly host: Readonly<Record<string, string>>;
  readonly later: Readonly<Record<string, string>>;
}

export function judgeRows(
  sections: readonly Section[],
  tests: readonly NamedTest[],
  permitted: Permitted = { host: hostRows, later: laterRows },
): string[] {
  const rows = sections.flatMap((section) => section.rows);
  const ids = rows.map(({ id }) => id);
  return [
    ...sections.flatMap(judgeIds),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: stands in the table twice`),
    ...rows.flatMap((row) => judgeRow(row, tests, permitted)),
    ...tests.flatMap((test) => judgeTest(test, ids)),
  ];
}

function judgeIds({ name, rows }: Section): string[] {
  const isOf = ({ id }: Row) => id.startsWith(`${name}.`) && /^S\d\.[1-9]\d*[a-z]?$/.test(id);
  return rows.filter((row) => !isOf(row)).map(({ id }) => `${id}: no id of section ${name}`);
}

function judgeRow(row: Row, tests: readonly NamedTest[], { host, later }: Permitted): string[] {
  const { id, title, notNeeded, comesWith } = row;
  const own = tests.filter(({ name }) => idOf(name) === id);
  const faults: string[] = [];
  if (title.trim() === '') faults.push(`${id}: has no title`);
  if (notNeeded !== undefined && !Object.hasOwn(host, id))
    faults.push(`${id}: is called not needed, but is no row about a host's own mechanism; show it`);
  if (notNeeded !== undefined && !/^because \S+ \S/.test(notNeeded))
    faults.push(`${id}: is called not needed without a reason that begins with 'because'`);
  if (comesWith !== undefined && later[id] !== comesWith)
    faults.push(`${id}: is put off, but is not listed among the rows of a later part; show it`);
  const excused = notNeeded !== undefined || comesWith !== undefined;
  if (excused && own.length > 0) faults.push(`${id}: has a test (${places(own)}), so it needs no excuse`);
  if (!excused && own.length === 0) faults.push(`${id}: no test has a name that begins with it`);
  if (own.length > 1) faults.push(`${id}: ${own.length} tests (${places(own)}), one is enough`);
  return faults;
}

function judgeTest({ file, name }: NamedTest, ids: readonly string[]): string[] {
  if (name === undefined) return [`${file}: the name of a test is not plain text`];
  const id = idOf(name);
  if (id === undefined) return [`${file}: '${name}' begins with no row id`];
  return ids.includes(id) ? [] : [`${file}: '${name}' names a row that is not in the table`];
}

/** `S0.5 a missing folder ...`: the id, a space and words. */
function idOf(name: string | undefined): string | undefined {
  return /^(S\d+\.\d+[a-z]?) \S/.exec(name ?? '')?.[1];
}

const places = (tests: readonly NamedTest[]) => tests.map(({ file }) => file).join(', ');

/** Every call of `test(...)`, `test.skip(...)` and the like in the *.test.ts files of a folder. */
export function listNamedTests(folder: string): NamedTest[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.ts'));
  return files.sort().flatMap((file) => findNamedTests(file, readFileSync(join(folder, file), 'utf8')));
}

export function findNamedTests(file: string, text: string): NamedTest[] {
  const found: NamedTest[] = [];
  const walk = (node: ts.Node) => {
    if (ts.isCallExpression(node) && /^(test|it)(\.\w+)?$/.test(node.expression.getText())) {
      const [name] = node.arguments;
      found.push({ file, name: name && ts.isStringLiteralLike(name) ? name.text : undefined });
    }
    ts.forEachChild(node, walk);
  };
  walk(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}
