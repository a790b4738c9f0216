// How many network connections a process holds: established ones, of this process, and null where that cannot be told.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import test from 'node:test';
import { countConnections } from '../../companion/src/platform/open-connections.ts';

const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc here' };

test('an established connection is counted at each of its ends, a listener is none', onLinux, async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const before = countConnections([process.pid]);
  assert.ok(before !== null);
  const accepted = once(server, 'connection');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(client, 'connect');
  const [other] = await accepted;
  assert.equal(countConnections([process.pid]), before + 2);
  // A process that is named twice has them once.
  assert.equal(countConnections([process.pid, process.pid]), before + 2);
  client.destroy();
  other.destroy();
});

test('of processes that are gone nothing is known', () => {
  assert.equal(countConnections([2 ** 30]), null);
  assert.equal(countConnections([]), null);
});
