/**
 * Who may touch what is global: clock, environment, signals, exit code and streams. Each entry says where alone a name
 * may be used. Looks at the syntax tree, so comments and strings never count; a local variable called `process` would.
 */
import ts from 'typescript';
import { isCode, lineOf, type Source, visit } from './source.ts';

const main = (path: string) => path === 'main.ts';
const streams = (path: string) => path === 'main.ts' || path === 'platform/output.ts';
const clock = (path: string) => path === 'platform/clock.ts';

/** `object.member` (`*`: any member) and where it is at home. */
const homes: Record<string, { in: (path: string) => boolean; home: string }> = {
  'process.exit': { in: main, home: 'main.ts' },
  'process.exitCode': { in: main, home: 'main.ts' },
  'process.reallyExit': { in: main, home: 'main.ts' },
  'process.abort': { in: main, home: 'main.ts' },
  'process.stdout': { in: streams, home: 'platform/output.ts' },
  'process.stderr': { in: streams, home: 'platform/output.ts' },
  'console.*': { in: main, home: 'main.ts' },
  'process.env': { in: (path) => path === 'platform/env.ts', home: 'platform/env.ts' },
  'process.kill': { in: (path) => path.startsWith('platform/'), home: 'platform/' },
  'Date.now': { in: clock, home: 'platform/clock.ts' },
  'performance.*': { in: clock, home: 'platform/clock.ts' },
  'process.hrtime': { in: clock, home: 'platform/clock.ts' },
  'new Date()': { in: clock, home: 'platform/clock.ts' },
  'Math.random': { in: (path) => !path.startsWith('core/'), home: 'outside core/' },
  'crypto.*': { in: (path) => !path.startsWith('core/'), home: 'outside core/' },
};

export function judgeReach(files: Source[]): string[] {
  return files.filter(isCode).flatMap((file) => {
    const faults: string[] = [];
    visit(file.tree, (node) => {
      for (const name of listGlobals(node)) {
        const rule = homes[name] ?? homes[name.replace(/\..*/, '.*')];
        if (!rule || rule.in(file.path)) continue;
        faults.push(`${file.path}:${lineOf(file, node)}: ${name} is at home in ${rule.home}`);
      }
    });
    return faults;
  });
}

/** `process.env`, `process['env']`, `globalThis.process.env`, `const { env } = process`, `new Date()`, `Date()`. */
function listGlobals(node: ts.Node): string[] {
  if (ts.isPropertyAccessExpression(node)) return member(node.expression, node.name.text);
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return member(node.expression, node.argumentExpression.text);
  }
  if (ts.isVariableDeclaration(node) && node.initializer && ts.isObjectBindingPattern(node.name)) {
    const { initializer } = node;
    return node.name.elements.flatMap(({ propertyName, name }) =>
      member(initializer, (propertyName ?? name).getText()),
    );
  }
  const makesDate = ts.isNewExpression(node) && (node.arguments?.length ?? 0) === 0;
  const isDate = (makesDate || ts.isCallExpression(node)) && nameOf(node.expression) === 'Date';
  return isDate ? ['new Date()'] : [];
}

function member(object: ts.Expression, name: string): string[] {
  const owner = nameOf(object);
  return owner ? [`${owner}.${name}`] : [];
}

function nameOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  const isGlobal = ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression);
  return isGlobal && (node.expression as ts.Identifier).text === 'globalThis' ? node.name.text : undefined;
}
