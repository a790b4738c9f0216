/**
 * An npm registry on loopback, as small as npm can do with, and the environment in which npm asks it and nothing of the machine's own
 * configuration.
 */
import { join } from 'node:path';
import type { Workspace } from '../../helpers/workspace.ts';
import { type Asked, send } from './acts.ts';
import { type BadServer, startBadServer } from './bad-server.ts';

export interface Registry {
  server: BadServer;
  /** Beside the workspace's own. */
  env: Record<string, string>;
  /** What is published: the tags of a package, and further versions. */
  publish(name: string, tags: Record<string, string>, ...versions: string[]): void;
  /** What it answers to everything instead. */
  act: ((asked: Asked) => void) | null;
}

export async function startRegistry(workspace: Workspace): Promise<Registry> {
  const packages = new Map<string, string>();
  const answer = (asked: Asked): void => {
    const found = packages.get(decodeURIComponent(asked.url.pathname));
    if (registry.act) registry.act(asked);
    else sendJson(asked, found ? 200 : 404, found ?? '{"error":"not found"}');
  };
  const server = await startBadServer({ act: answer });
  workspace.defer(() => server.close());
  const registry: Registry = {
    server,
    act: null,
    env: { npm_config_registry: `${server.origin}/`, npm_config_cache: join(workspace.base, 'npm-cache') },
    publish(name, tags, ...versions) {
      const listed = [...new Set([...versions, ...Object.values(tags)])];
      const entries = listed.map((version) => [
        version,
        { name, version, dist: { tarball: 'http://127.0.0.1/x.tgz' } },
      ]);
      packages.set(`/${name}`, JSON.stringify({ name, 'dist-tags': tags, versions: Object.fromEntries(entries) }));
    },
  };
  return registry;
}

export function sendJson({ socket }: Asked, status: number, body: string): void {
  send(socket, status, { 'content-type': 'application/json', connection: 'close' }, body);
  socket.end();
}
