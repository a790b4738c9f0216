/**
 * Owns how the bundle becomes one file that starts fast. esbuild splits the sources along their dynamic imports. The entry stands in
 * the file as code; every other part stands in a comment inside a function at its end, is cut out of that function's text and compiled
 * when it is first needed. V8 skips a comment four times faster than it pre-parses code (Node 20, 280 KB: 1.6 ms against 6.1 ms; as template
 * strings 4.2 ms), and a launch or a `status` needs a third of it. A file that is replaced under a running worker
 * does not matter to it.
 */
import { transform } from 'esbuild';

/** `outputs`: [{ name, code }] of an ESM build with splitting; the first is the entry. Returns CommonJS text. */
export async function packParts(outputs) {
  const helpers = new Map();
  const parts = [];
  for (const { name, code } of outputs) parts.push({ name, code: takeHelpers(await toCommonJs(code), helpers) });
  const [entry, ...others] = parts;
  const code = [...helpers.values(), makeLoader([...helpers.keys()]), entry.code].join('\n');
  const comment = others.map((part) => `${mark}${part.name}\n${escapeComment(part.code)}`).join('\n');
  const text = `${code}\nfunction partsText() {/*\n${comment}\n${mark}end\n*/}\n`;
  const odd = /[^\t\n\x20-\x7e]/.exec(text);
  if (odd) throw new Error(`the built file must be plain ASCII, one byte a character: found ${JSON.stringify(odd[0])}`);
  return text;
}

// Begins the line before each part; stands for the end of a comment inside one.
const mark = '//# part ';
const commentEnd = '*<>/';

/** Compile a part when it is first asked for. The source name makes stack traces tell which part it was. */
function makeLoader(helpers) {
  const given = ['load', 'builtin', 'module', 'exports', 'require', '__filename', '__dirname', ...helpers];
  return `const builtins = {};
function builtin(name) {
  return (builtins[name] ??= Object.create(require(name), { default: { value: require(name) } }));
}
const ownText = partsText.toString();
const loaded = {};
function load(name) {
  if (loaded[name]) return loaded[name].exports;
  const module = (loaded[name] = { exports: {} });
  const head = "\\n${mark}" + name.slice(2) + "\\n";
  const from = ownText.indexOf(head) + head.length;
  const part = ownText.slice(from, ownText.indexOf("\\n${mark}", from)).replaceAll("${commentEnd}", "*" + "/");
  const compile = new Function(${given.map((name) => JSON.stringify(name)).join(', ')}, part + "\\n//# sourceURL=job-companion/" + name);
  compile(load, builtin, module, module.exports, require, __filename, __dirname${helpers.map((name) => `, ${name}`).join('')});
  return module.exports;
}`;
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
    .replaceAll(/= __toCommonJS\((\w+)\);/g, '= $1;');
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

function escapeComment(code) {
  if (code.includes(commentEnd)) throw new Error(`a part holds ${commentEnd}, which stands for the end of a comment`);
  return code.replaceAll('*/', commentEnd);
}
