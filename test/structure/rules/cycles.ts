/**
 * Finds import cycles. A type import counts as well, because it ties two files together for the reader; `await import()`
 * does not, because it is there to part them.
 */
import { isCode, listImports, type Source } from './source.ts';

/** Each cycle once, as `a.ts -> b.ts -> a.ts`. */
export function findCycles(files: Source[]): string[] {
  const edges = new Map(
    files.filter(isCode).map((file) => [
      file.path,
      listImports(file)
        .filter(({ how }) => how !== 'dynamic')
        .flatMap(({ path }) => path ?? []),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' -> '));
    if (start >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) walk(path, []);
  return cycles;
}
