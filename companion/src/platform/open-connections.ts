// How many network connections these processes hold open (Linux). Says what is known of a process that seems to wait for nothing: an
// answer may be on its way, or a connection only kept for the next request; which of both cannot be told from outside.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const established = '01';

/** Null where it cannot be told. */
export function countConnections(pids: readonly number[]): number | null {
  if (process.platform !== 'linux') return null;
  const found = new Set<string>();
  let hasSeen = false;
  for (const pid of pids) {
    const sockets = socketsOf(pid);
    if (!sockets) continue;
    hasSeen = true;
    if (sockets.size === 0) continue;
    // A process may be in a network of its own.
    for (const inode of ['tcp', 'tcp6'].flatMap((table) => establishedIn(`/proc/${pid}/net/${table}`)))
      if (sockets.has(inode)) found.add(inode);
  }
  return hasSeen ? found.size : null;
}

function socketsOf(pid: number): Set<string> | undefined {
  const folder = `/proc/${pid}/fd`;
  try {
    return new Set(readdirSync(folder).flatMap((fd) => socketIn(`${folder}/${fd}`) ?? []));
  } catch {
    return undefined;
  }
}

function socketIn(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1];
  } catch {
    return undefined;
  }
}

/** Inodes of the sockets with that state (proc_pid_net(5)). */
function establishedIn(table: string): string[] {
  try {
    return readFileSync(table, 'latin1')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const cells = line.trim().split(/\s+/);
        return cells[3] === established && cells[9] ? [cells[9]] : [];
      });
  } catch {
    return [];
  }
}
