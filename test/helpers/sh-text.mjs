/**
 * Module hook: a `.sh` file is a module whose default export is its text, as esbuild's text loader has it.
 * Registered by register.mjs; leaves every other kind of file to the next hook.
 */
import { readFileSync } from 'node:fs';

export function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !new URL(url).pathname.endsWith('.sh')) return nextLoad(url, context);
  const text = readFileSync(new URL(url), 'utf8');
  return { format: 'module', source: `export default ${JSON.stringify(text)};`, shortCircuit: true };
}
