// Ending a whole tree of real processes: who belongs to it however it hid, who does not, and what force was needed.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { markVariable } from '../../companion/src/platform/env.ts';
import { findMembers, type Tree } from '../../companion/src/platform/process-members.ts';
import { readProcess } from '../../companion/src/platform/process-table.ts';
import { isAlive, type TerminateReport, terminate } from '../../companion/src/platform/process-tree.ts';
import { eventually } from '../helpers/eventually.ts';
import { killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace, type Workspace } from '../helpers/workspace.ts';
import { type Running, startProgram } from './child-program.ts';

// Everywhere else `ps` shows no environment, and the tree is found by group and parents only.
const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc here' };
const enough = { graceMs: 60_000, settleMs: 60_000 };

interface Grown {
  workspace: Workspace;
  tree: Tree;
  leader: Running;
  /** As the script told it; 0 when it did not. */
  pid(name: string): number;
}

/** Run a shell script as the leader of a session. It tells each process of `names` as `NAME PID`. */
async function grow(t: TestContext, names: string[], script: string): Promise<Grown> {
  const workspace = makeWorkspace(t, { git: false });
  const mark = randomBytes(16).toString('hex');
  const whole = `tell() { echo "$1 $2"; }\n${script}\necho ready\nexec sleep 1000\n`;
  const leader = startProgram(workspace, ['/bin/sh', '-c', whole], { env: { [markVariable]: mark }, detached: true });
  const find = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(leader.stdout())?.[1] ?? 0);
  await eventually('the tree to grow', () => /^ready$/m.test(leader.stdout()) && names.every((name) => find(name) > 1));
  for (const name of names) {
    const identity = readIdentity(find(name));
    if (identity) workspace.defer(() => killByIdentity(identity));
  }
  const tree: Tree = {
    mark,
    reach: 'all',
    session: leader.identity.pid,
    since: 0,
    baseline: null,
    counted: () => [],
    spared: [],
    child: null,
    known: new Map(),
  };
  return { workspace, tree, leader, pid: find };
}

const pids = (members: { pid: number }[]) => members.map(({ pid }) => pid).sort((a, b) => a - b);
const isThere = (pid: number) => readIdentity(pid) !== undefined;
const isSleep = (pid: number) => readProcess(pid)?.name === 'sleep';

/** Everybody named is gone, told as ended, and nobody survived. */
function assertEnded({ leader, pid }: Grown, report: TerminateReport, names: string[]): void {
  const expected = [leader.identity.pid, ...names.map(pid)].sort((a, b) => a - b);
  assert.deepEqual(pids(report.ended), expected);
  assert.deepEqual(report.survivors, []);
  for (const one of expected) assert.equal(isThere(one), false, `pid ${one} lives`);
}

test('children in the session and its group are ended, and TERM is enough', onLinux, async (t) => {
  const grown = await grow(t, ['a', 'b'], 'sleep 1000 & tell a $!; sleep 1001 & tell b $!');
  const report = await terminate(grown.tree, enough);
  assertEnded(grown, report, ['a', 'b']);
  assert.equal(report.step, 'term');
});

test('a child that left the session is found by its mark', onLinux, async (t) => {
  const grown = await grow(t, ['a'], 'setsid sleep 1000 & tell a $!');
  await eventually('its own session', () => readProcess(grown.pid('a'))?.session === grown.pid('a'));
  assertEnded(grown, await terminate({ ...grown.tree, session: null }, enough), ['a']);
});

test('a child that left the session without its mark is found by its parent', onLinux, async (t) => {
  const grown = await grow(t, ['a'], 'env -i setsid sleep 1000 & tell a $!');
  await eventually('its own session', () => readProcess(grown.pid('a'))?.session === grown.pid('a'));
  assertEnded(grown, await terminate(grown.tree, enough), ['a']);
});

test('a daemon whose parents are gone is found by its mark', onLinux, async (t) => {
  const grown = await grow(t, ['a'], `(setsid sh -c 'sleep 1000 & echo "a $!"')`);
  await eventually('the orphan', () => {
    const row = readProcess(grown.pid('a'));
    return row && !readProcess(row.parent)?.name.startsWith('sh') && row.session !== grown.leader.identity.pid;
  });
  assertEnded(grown, await terminate(grown.tree, enough), ['a']);
});

test('one that hides after it was seen is still known', onLinux, async (t) => {
  const script = `sh -c 'env -i setsid sleep 1000 & echo "a $!"; exec sleep 1000' & tell parent $!`;
  const grown = await grow(t, ['a', 'parent'], script);
  await eventually('its own session', () => readProcess(grown.pid('a'))?.session === grown.pid('a'));
  assert.ok(pids(findMembers(grown.tree)).includes(grown.pid('a')));
  // Its parent dies: no session, no mark and no parent lead to it any more.
  const parent = readIdentity(grown.pid('parent'));
  assert.ok(parent && killByIdentity(parent));
  await eventually('the parent to be gone', () => !isThere(grown.pid('parent')));
  assert.ok(!pids(findMembers({ ...grown.tree, known: new Map() })).includes(grown.pid('a')));
  assertEnded(grown, await terminate(grown.tree, enough), ['a']);
});

test('what the kernel counts to the job is ended too', onLinux, async (t) => {
  const { workspace, ...grown } = await grow(t, [], '');
  const hidden = startProgram(workspace, ['/bin/cat'], { detached: true });
  grown.tree.counted = () => [hidden.identity.pid];
  const report = await terminate(grown.tree, enough);
  assert.deepEqual(
    pids(report.ended),
    [grown.leader.identity.pid, hidden.identity.pid].sort((a, b) => a - b),
  );
  await hidden.ended;
});

test('who does not obey TERM gets KILL, and the report says so', onLinux, async (t) => {
  const grown = await grow(t, ['a'], `sh -c 'trap "" TERM; exec sleep 1000' & tell a $!`);
  await eventually('the trap', () => readProcess(grown.pid('a'))?.name === 'sleep');
  const report = await terminate(grown.tree, { graceMs: 1, settleMs: 60_000 });
  assertEnded(grown, report, ['a']);
  assert.equal(report.step, 'kill');
});

test('a process that answers TERM by starting another one takes that one with it', onLinux, async (t) => {
  const answer = String.raw`setsid sleep 1000 & echo \"born \$!\"; exit 0`;
  const script = `sh -c 'trap "${answer}" TERM; echo "a $$"; while :; do sleep 0.05; done' &`;
  const grown = await grow(t, ['a'], script);
  const report = await terminate(grown.tree, enough);
  await eventually('the birth to be told', () => grown.pid('born'));
  assert.ok(pids(report.ended).includes(grown.pid('born')), grown.leader.stdout());
  assert.deepEqual(report.survivors, []);
  assert.deepEqual([isThere(grown.pid('a')), isThere(grown.pid('born'))], [false, false]);
});

test('a job started inside the job is spared, with everything below it', onLinux, async (t) => {
  const script = `${markVariable}=foreign setsid sh -c 'env -i sleep 1000 & echo "below $!"; exec sleep 1000' & tell foreign $!
    sleep 1000 & tell own $!`;
  const grown = await grow(t, ['foreign', 'below', 'own'], script);
  await eventually('both to be what they are', () => isSleep(grown.pid('foreign')) && isSleep(grown.pid('below')));
  assertEnded(grown, await terminate(grown.tree, enough), ['own']);
  assert.deepEqual([isThere(grown.pid('foreign')), isThere(grown.pid('below'))], [true, true]);
});

test('what is below a foreign job is spared in our own session too', {
  ...onLinux,
}, async (t) => {
  const script = `${markVariable}=foreign sh -c 'env -i sleep 1000 & echo "below $!"; exec sleep 1000' & tell foreign $!`;
  const grown = await grow(t, ['foreign', 'below'], script);
  await eventually('both to be what they are', () => isSleep(grown.pid('foreign')) && isSleep(grown.pid('below')));
  await terminate(grown.tree, enough);
  assert.deepEqual([isThere(grown.pid('foreign')), isThere(grown.pid('below'))], [true, true]);
});

test('worker and shim are spared, and what else the shim runs is ended without being told of', onLinux, async (t) => {
  const script = 'for name in guard shim worker child; do sleep 1000 & tell $name $!; done';
  const grown = await grow(t, ['guard', 'shim', 'worker', 'child'], script);
  grown.tree.spared = [grown.pid('worker'), grown.pid('shim')];
  grown.tree.child = grown.pid('child');
  assertEnded(grown, await terminate(grown.tree, enough), ['child']);
  for (const name of ['worker', 'shim']) assert.equal(isThere(grown.pid(name)), true, name);
  assert.equal(isThere(grown.pid('guard')), false);
});

test('a session that nobody of the job is in is not touched, whatever the record says', onLinux, async (t) => {
  const { workspace, ...grown } = await grow(t, [], '');
  const stranger = startProgram(workspace, ['/bin/cat'], { detached: true });
  const report = await terminate({ ...grown.tree, session: stranger.identity.pid }, enough);
  assert.deepEqual(pids(report.ended), [grown.leader.identity.pid]);
  assert.equal(isThere(stranger.identity.pid), true);
});

test('a stranger that has the pid of a former member is not touched', onLinux, async (t) => {
  const { workspace, ...grown } = await grow(t, [], '');
  const stranger = startProgram(workspace, ['/bin/cat']);
  grown.tree.known.set(stranger.identity.pid, '1');
  assert.deepEqual(pids(findMembers(grown.tree)), [grown.leader.identity.pid]);
  assert.equal(isAlive({ pid: stranger.identity.pid, start: '1' }), false);
  await terminate(grown.tree, enough);
  assert.equal(isThere(stranger.identity.pid), true);
});

test('nobody who started before the job belongs to it', onLinux, async (t) => {
  const grown = await grow(t, ['a'], 'sleep 1000 & tell a $!');
  const [first, second] = [grown.leader.identity.pid, grown.pid('a')].map((pid) => Number(readProcess(pid)?.start));
  assert.deepEqual(findMembers({ ...grown.tree, since: second! + 1, known: new Map() }), []);
  assert.equal(findMembers({ ...grown.tree, since: first! }).length, 2);
});

test('an empty tree is nothing to end, and we never belong to one', onLinux, async (t) => {
  const grown = await grow(t, [], '');
  const empty: Tree = { ...grown.tree, mark: 'x'.repeat(32), session: null, known: new Map() };
  assert.deepEqual(await terminate(empty, enough), { step: 'none', ended: [], survivors: [] });
  const own: Tree = { ...empty, counted: () => [process.pid] };
  assert.ok(!pids(findMembers(own)).includes(process.pid));
  assert.equal(isThere(grown.leader.identity.pid), true);
});

test('zombies are nobody', onLinux, async (t) => {
  const grown = await grow(t, ['a'], 'exec 3<&0; sh -c "read -r _ <&3" & tell a $!; exec 3<&-');
  // A shell would ask for its child's end, a sleep never does.
  await eventually('the leader to sleep', () => isSleep(grown.leader.identity.pid));
  grown.leader.begin();
  await eventually('the zombie', () => readProcess(grown.pid('a'))?.state === 'Z');
  assert.deepEqual(pids(findMembers(grown.tree)), [grown.leader.identity.pid]);
});
