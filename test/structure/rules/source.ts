/**
 * What the structure rules look at: a list of source files, each parsed once, with paths relative to companion/src. Rules
 * are functions over such a list, so a test can hand them a planted one. Also finds what a file imports, and how.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

export interface Import {
  readonly specifier: string;
  /** static: `import`, `export from`; type: the same with `type`, or `import('x')` as a type; dynamic: `await import()`. */
  readonly how: 'static' | 'type' | 'dynamic';
  /** For relative specifiers: the path relative to companion/src; undefined when it is a package or a built-in. */
  readonly path: string | undefined;
  readonly line: number;
}

export const sourceRoot = join(import.meta.dirname, '../../../companion/src');

export function makeSource(path: string, text: string): Source {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true) };
}

/** All files of companion/src, `.sh` included: rules that need a syntax tree leave those out by their ending. */
export function readSources(root = sourceRoot): Source[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
    .map((path) => makeSource(path, readFileSync(join(root, path), 'utf8')));
}

export function isCode({ path }: Source): boolean {
  return path.endsWith('.ts') && !path.endsWith('.d.ts');
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  node.forEachChild((child) => visit(child, see));
}

export function lineOf({ tree }: Source, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

export function listImports(source: Source): Import[] {
  const found: Import[] = [];
  visit(source.tree, (node) => {
    const [name, how] = readImport(node) ?? [];
    if (!name || !how || !ts.isStringLiteralLike(name)) return;
    const specifier = name.text;
    const path = specifier.startsWith('.') ? posix.join(posix.dirname(source.path), specifier) : undefined;
    found.push({ specifier, how, path, line: lineOf(source, node) });
  });
  return found;
}

function readImport(node: ts.Node): [ts.Node | undefined, Import['how']] | undefined {
  if (ts.isImportDeclaration(node)) return [node.moduleSpecifier, isTypeOnly(node.importClause) ? 'type' : 'static'];
  if (ts.isExportDeclaration(node)) return [node.moduleSpecifier, node.isTypeOnly ? 'type' : 'static'];
  if (ts.isImportTypeNode(node))
    return [ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, 'type'];
  if (!ts.isCallExpression(node)) return undefined;
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword) return [node.arguments[0], 'dynamic'];
  return ts.isIdentifier(node.expression) && node.expression.text === 'require'
    ? [node.arguments[0], 'static']
    : undefined;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}
