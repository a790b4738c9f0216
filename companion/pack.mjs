/**
 * Owns how the bundle becomes one file that starts fast. esbuild splits the sources along their dynamic imports into parts. The entry
 * and a small loader (companion/loader.js) stand in the file as code; the parts stand in comments inside two functions at its end, which
 * V8 skips four times faster than it pre-parses code (Node 20, 280 KB: 1.6 ms against 6.1 ms). The loader compiles a comment's text
 * when the first of its parts is needed, with what V8 kept from the last time. What most starts need stands in the first comment, all else
 * in the second, so that a launch, a look or a worker does not copy and hold what it never uses. A file that is replaced under a running worker does not
 * matter to it.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

// The same in loader.js.
const commentEnd = '*<>/';

/** `outputs`: [{ name, code, isRare }] of an ESM build with splitting; the first is the entry. Returns CommonJS text. */
export async function packParts(outputs) {
  const helpers = new Map();
  const parts = [];
  for (const { name, code, isRare } of outputs)
    parts.push({ name, isRare, code: await squeeze(takeHelpers(await toCommonJs(code), helpers)) });
  const [entry, ...others] = parts;
  const names = [...helpers.keys()];
  const [usual, rare] = [false, true].map((isRare) =>
    makeTable(
      others.filter((part) => part.isRare === isRare),
      names,
    ),
  );
  const buildId = createHash('sha256').update(usual).update(rare).digest('hex').slice(0, 16);
  const loader = readFileSync(new URL('loader.js', import.meta.url), 'utf8').replace(
    ' /* HELPERS */',
    names.map((name) => `, ${name}`).join(''),
  );
  const code = [...helpers.values(), `const buildId = "${buildId}";`, loader, entry.code].join('\n');
  const functions = [
    ['usualText', usual],
    ['rareText', rare],
  ].map(([name, source]) => `function ${name}() {/*${escapeComment(source)}*/}\n`);
  const text = `${code}\n${functions.join('')}`;
  const odd = /[^\t\n\x20-\x7e]/.exec(text);
  if (odd) throw new Error(`the built file must be plain ASCII, one byte a character: found ${JSON.stringify(odd[0])}`);
  return text;
}

function makeTable(parts, names) {
  const rows = parts.map(
    ({ name, code }) => `${JSON.stringify(`./${name}`)}: function (module, exports) {\n${code}\n},`,
  );
  return `\n(function (${['load', 'builtin', 'require', ...names].join(', ')}) { return {\n${rows.join('\n')}\n}; })\n`;
}

async function toCommonJs(code) {
  const { code: text, warnings } = await transform(code, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    charset: 'ascii',
    // import('./part') of a part of ours becomes a call of our loader.
    supported: { 'dynamic-import': false },
    logLevel: 'warning',
  });
  if (warnings.length > 0) throw new Error(`esbuild gave a warning: ${warnings[0].text}`);
  // All parts come from the same build, so nothing needs to be wrapped to look like a module of another kind; the wrappers put
  // a getter on every name, twice, and copy node's own modules name by name.
  return text
    .replaceAll(/\brequire\("(\.\/[^"]+)"\)/g, 'load("$1")')
    .replaceAll(/__toESM\((load\("[^"]+"\))\)/g, '$1')
    .replaceAll(/__toESM\(require\(("node:[^"]+")\)\)/g, 'builtin($1)')
    .replaceAll(/= __toCommonJS\((\w+)\);/g, '= $1;')
    .replaceAll(/\/\*[^*]*\*\/ ?/g, (comment) => (/^\/\* [@#]__[A-Z_]+__ \*\/ ?$/.test(comment) ? '' : comment));
}

/** A third less to read at each start and to hold in each worker. Names stay, and lines stay short, so that a stack can be read. */
async function squeeze(code) {
  const options = { minifyWhitespace: true, lineLimit: 160, platform: 'node', target: 'node20', charset: 'ascii' };
  return (await transform(code, { ...options, legalComments: 'none', logLevel: 'warning' })).code;
}

/** esbuild's own few functions stand at the top of every part; once is enough. */
function takeHelpers(code, helpers) {
  const lines = code.split('\n');
  let at = 0;
  while (/^"use strict";$/.test(lines[at] ?? '')) at += 1;
  for (let name = nameOf(lines[at]); name !== undefined; name = nameOf(lines[at])) {
    let end = at;
    while (!/;$/.test(lines[end]) || /^ /.test(lines[end])) end += 1;
    const text = lines.slice(at, end + 1).join('\n');
    if (helpers.has(name) && helpers.get(name) !== text) throw new Error(`two forms of esbuild's helper ${name}`);
    helpers.set(name, text);
    at = end + 1;
  }
  return `"use strict";\n${lines.slice(at).join('\n')}`;
}

function nameOf(line) {
  return /^var (__(?:create|defProp|getOwnPropDesc|getOwnPropNames|getProtoOf|hasOwnProp|commonJS|export|copyProps|toESM|toCommonJS)) = /.exec(
    line ?? '',
  )?.[1];
}

/** `*` + `/` would end the comment that holds the parts. */
function escapeComment(source) {
  if (source.includes(commentEnd))
    throw new Error(`a source holds ${commentEnd}, which stands for the end of a comment`);
  return source.replaceAll('*/', commentEnd);
}
