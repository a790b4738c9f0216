/**
 * Refuses the words that the glossary strikes out, in the names of source files and in the names that sources declare. Names
 * that come from elsewhere (a package, Node) are free. Text is checked for one spelling only: we say `canceled`. Backends
 * and watches are free of that, since other programs' words are their data.
 */
import ts from 'typescript';
import { isCode, lineOf, type Source, visit } from './source.ts';

/** Word of a name -> what we say instead. */
const struck: Record<string, string> = {
  daemon: 'worker',
  provider: 'backend',
  manager: 'supervisor, or what it really does',
  util: 'the subject',
  utils: 'the subject',
  helper: 'the subject',
  helpers: 'the subject',
  misc: 'the subject',
  cancelled: 'canceled',
};

export function judgeVocabulary(files: Source[]): string[] {
  return files.flatMap((file) => {
    const faults = judgeName(file.path.replace(/\.[^/]*$/, '')).map((fault) => `${file.path}: ${fault}`);
    if (!isCode(file)) return faults;
    visit(file.tree, (node) => {
      const found = [...judgeDeclaration(node), ...judgeText(node, file.path)];
      for (const fault of found) faults.push(`${file.path}:${lineOf(file, node)}: ${fault}`);
    });
    return faults;
  });
}

function judgeDeclaration(node: ts.Node): string[] {
  const { name } = node as ts.NamedDeclaration;
  const isOurs =
    ts.isVariableDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node);
  return isOurs && name && ts.isIdentifier(name) ? judgeName(name.text) : [];
}

function judgeName(name: string): string[] {
  const words = name.split(/(?<=[a-z0-9])(?=[A-Z])|[^a-zA-Z0-9]+/).map((word) => word.toLowerCase());
  const faults = words.flatMap((word) =>
    Object.hasOwn(struck, word) ? [`'${name}' says ${word}; say ${struck[word]}`] : [],
  );
  return /^handle[A-Z]/.test(name) ? [...faults, `'${name}' says handle; say what it does`] : faults;
}

function judgeText(node: ts.Node, path: string): string[] {
  if (path.startsWith('backends/') || path.startsWith('watches/')) return [];
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  return isText && /cancell(ed|ing)/i.test(node.text)
    ? ['text says cancelled or cancelling; say canceled, canceling']
    : [];
}
