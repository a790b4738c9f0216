/**
 * The table of who may import whom (style, "Direction of dependencies") and the rule that reads it. `import type` and
 * `await import()` follow the same table. Each entry that is not plain layering has its reason beside it.
 */
import { type Import, isCode, listImports, type Source } from './source.ts';

type Layer = keyof typeof layers;

/** `packages`: outside modules by name; `builtins`: what of Node itself. */
const layers = {
  // Pure: whatever it needs of clock, disk or chance comes in as an argument.
  core: { imports: [], packages: ['zod/mini', 'ms'], builtins: 'none' },
  // The only layer that knows the machine, and knows nothing of jobs.
  platform: { imports: ['core'], packages: ['execa'], builtins: 'all' },
  output: { imports: ['core'], packages: ['kleur'], builtins: 'pure' },
  store: { imports: ['core', 'platform'], packages: [], builtins: 'pure' },
  // Readers of lines and facts: the supervisor treats all alike.
  backends: { imports: ['core', 'platform'], packages: [], builtins: 'pure' },
  watches: { imports: ['core', 'platform'], packages: [], builtins: 'pure' },
  // Where a worker runs: starts and asks processes itself.
  engines: { imports: ['core', 'platform'], packages: [], builtins: 'all' },
  // Starts the worker by its path, never by import.
  jobs: { imports: ['core', 'platform', 'store', 'backends', 'watches', 'engines'], packages: [], builtins: 'pure' },
  loop: { imports: ['core', 'platform', 'store', 'jobs'], packages: [], builtins: 'pure' },
  worker: {
    imports: ['core', 'platform', 'store', 'backends', 'watches', 'engines', 'jobs', 'loop'],
    packages: [],
    builtins: 'pure',
  },
  commands: {
    imports: ['core', 'platform', 'output', 'store', 'backends', 'watches', 'engines', 'jobs', 'loop'],
    packages: [],
    builtins: 'pure',
  },
  'main.ts': { imports: ['core', 'platform', 'output', 'commands', 'worker'], packages: [], builtins: 'pure' },
} as const satisfies Record<
  string,
  { imports: readonly string[]; packages: readonly string[]; builtins: 'none' | 'pure' | 'all' }
>;

/** Built-ins that reach the machine; the others only compute. */
const machineBuiltins = new Set(
  'child_process cluster dgram dns fs http http2 https inspector module net os repl tls vm worker_threads'.split(' '),
);
/** Heavy packages, loaded where they are used: execa costs every start 34 ms. */
const lazyPackages = new Set(['execa']);
/** One adapter never leans on another: what two need moves to a file that the registry does not list. */
const families = ['backends', 'watches', 'engines'];

/** One sentence for each import that the table does not allow. */
export function judgeLayers(files: Source[]): string[] {
  const code = files.filter(isCode);
  const lost = files.filter(({ path }) => layerOf(path) === undefined && path !== 'types.d.ts');
  const listed = listAdapters(code);
  return [
    ...lost.map(({ path }) => `${path}: belongs to no layer; there are ${Object.keys(layers).join(', ')}`),
    ...code.flatMap((file) =>
      listImports(file).flatMap((found) => {
        const fault = judgeImport(file.path, found) ?? judgeSibling(file.path, found, listed);
        return fault ? [`${file.path}:${found.line}: imports ${found.specifier}; ${fault}`] : [];
      }),
    ),
  ];
}

function judgeImport(from: string, { specifier, how, path }: Import): string | undefined {
  const layer = layerOf(from);
  if (layer === undefined) return undefined;
  const { imports, packages, builtins }: { imports: readonly string[]; packages: readonly string[]; builtins: string } =
    layers[layer];
  if (path !== undefined) {
    const target = layerOf(path);
    if (path.startsWith('..')) return 'sources import nothing outside companion/src';
    if (target === layer && layer !== 'main.ts') return undefined;
    if (target === undefined || !imports.includes(target))
      return `${layer} may import ${imports.join(', ') || 'no other layer'}`;
    if (target === 'worker' && how !== 'dynamic') return 'main.ts loads the worker by await import(), and only then';
    return undefined;
  }
  const builtin = /^node:(.*)$/.exec(specifier)?.[1];
  if (builtin === 'process') return 'use the global `process`, so that the other rules can see it';
  if (builtin !== undefined) {
    if (builtins === 'none') return `${layer} uses no built-in modules`;
    const reachesMachine = machineBuiltins.has(builtin.split('/')[0] ?? '');
    return reachesMachine && builtins !== 'all' ? 'only platform and engines reach the machine' : undefined;
  }
  if (!packages.includes(specifier))
    return `packages of ${layer}: ${packages.join(', ') || 'none'}; built-ins begin with node:`;
  return lazyPackages.has(specifier) && how === 'static' ? 'it is heavy: load it by await import()' : undefined;
}

function judgeSibling(from: string, { path, how }: Import, listed: Set<string>): string | undefined {
  if (path === undefined || how === 'type' || !listed.has(path) || from.endsWith('/registry.ts')) return undefined;
  return layerOf(from) === layerOf(path) ? 'the registry lists it, so its neighbours may not lean on it' : undefined;
}

function listAdapters(code: Source[]): Set<string> {
  const registries = code.filter(({ path }) => families.some((family) => path === `${family}/registry.ts`));
  const imports = registries.flatMap(listImports).filter(({ how }) => how !== 'type');
  return new Set(imports.flatMap(({ path }) => (path && families.includes(layerOf(path) ?? '') ? [path] : [])));
}

function layerOf(path: string): Layer | undefined {
  const [folder = ''] = path.split('/');
  const isFolder = path !== folder;
  return folder in layers && isFolder !== (folder === 'main.ts') ? (folder as Layer) : undefined;
}
