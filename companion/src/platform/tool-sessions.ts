// Which sessions are those of small programs that this process runs itself (tool.ts). Their processes are no part of a job's command, also
// while they are dying and show nothing else of themselves.

const sessions = new Set<number>();
/** What was killed is visible for a moment longer. */
const lingerMs = 1000;

export function isToolSession(session: number): boolean {
  return sessions.has(session);
}

/** `pid` leads a session of its own. Returns what to call at its end. */
export function noteToolSession(pid: number | undefined): () => void {
  if (pid === undefined) return () => undefined;
  sessions.add(pid);
  return () => setTimeout(() => sessions.delete(pid), lingerMs).unref();
}
