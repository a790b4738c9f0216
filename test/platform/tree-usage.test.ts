// What a tree of real processes uses: CPU and descendants, without the shim's own and without small programs that we run ourselves.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { cpuSince, emptyBooks } from '../../companion/src/core/cpu-use.ts';
import { markVariable, roleVariable } from '../../companion/src/platform/env.ts';
import { findEscaped, findMembers, type Tree } from '../../companion/src/platform/process-members.ts';
import { readProcess } from '../../companion/src/platform/process-table.ts';
import { endProbes } from '../../companion/src/platform/process-tree.ts';
import { runTool } from '../../companion/src/platform/tool.ts';
import { measureTree } from '../../companion/src/platform/tree-usage.ts';
import { eventually } from '../helpers/eventually.ts';
import { killByIdentity, readIdentity } from '../helpers/process.ts';
import { makeWorkspace } from '../helpers/workspace.ts';
import { startProgram } from './child-program.ts';

const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc here' };

/** A shell script as the shim of a tree; `names` are told by it as `NAME PID`, `child` is the command. */
async function grow(t: TestContext, names: string[], script: string) {
  const workspace = makeWorkspace(t, { git: false });
  const mark = randomBytes(16).toString('hex');
  const whole = `tell() { echo "$1 $2"; }\n${script}\necho ready\nexec sleep 1000\n`;
  const leader = startProgram(workspace, ['/bin/sh', '-c', whole], { env: { [markVariable]: mark }, detached: true });
  const pid = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(leader.stdout())?.[1] ?? 0);
  await eventually('the tree to grow', () => /^ready$/m.test(leader.stdout()) && names.every((name) => pid(name) > 1));
  for (const name of names) {
    const identity = readIdentity(pid(name));
    if (identity) workspace.defer(() => killByIdentity(identity));
  }
  const shim = leader.identity.pid;
  const tree: Tree = {
    ...{ mark, reach: 'all', session: shim, since: 0, baseline: null, counted: () => [] },
    ...{ spared: [shim], child: pid('child'), known: new Map() },
  };
  return { workspace, tree, pid, mark };
}

test(
  'descendants are those of the command, wherever they went; the shim, its guard and the command are none',
  onLinux,
  async (t) => {
    const script = `
    sleep 1001 & tell guard $!
    sh -c 'sleep 1002 & echo "a $!"; setsid sleep 1003 & echo "b $!"; exec sleep 1004' & tell child $!`;
    const { tree, pid } = await grow(t, ['guard', 'child', 'a', 'b'], script);
    await eventually(
      'sessions',
      () => readProcess(pid('b'))?.session === pid('b') && readProcess(pid('child'))?.name === 'sleep',
    );
    const usage = measureTree(tree);
    assert.equal(usage.descendants, 2);
    assert.deepEqual(
      usage.cpu?.map((row) => row.pid).sort((x, y) => x - y),
      [pid('child'), pid('a'), pid('b')].sort((x, y) => x - y),
    );
    // Only what lives is remembered from look to look.
    tree.known.set(999_999_999, '1');
    measureTree(tree);
    assert.equal(tree.known.has(999_999_999), false);
    // Also where the end of the job would leave them alone.
    assert.equal(measureTree({ ...tree, reach: 'session' }).descendants, 2);
  },
);

test('CPU of a child that ended is counted once, waited for or not yet', onLinux, async (t) => {
  // The second look finds the burner as a zombie: its parent is asleep and waits for nobody.
  const script = `sh -c 'sh -c "i=0; while [ \\$i -lt 200000 ]; do i=\\$((i+1)); done" & exec sleep 1004' & tell child $!`;
  const { tree } = await grow(t, ['child'], script);
  let books = emptyBooks;
  let whole = 0;
  const look = (): number => {
    const { usedMs, books: next } = cpuSince(books, measureTree(tree).cpu ?? []);
    books = next;
    whole += usedMs;
    return usedMs;
  };
  await eventually('the burner to end', () => measureTree(tree).descendants === 0 && look() >= 0 && whole > 0, {
    limitMs: 60_000,
  });
  const counted = whole;
  for (let round = 0; round < 3; round += 1) assert.equal(look(), 0);
  assert.equal(whole, counted);
});

test(
  'a small program of our own is no descendant, no left-over, and of a job all the same when it carries its mark',
  onLinux,
  async (t) => {
    const { workspace, tree, mark } = await grow(t, ['child'], 'sleep 1001 & tell child $!');
    const stop = new AbortController();
    const call = {
      program: '/bin/sh',
      args: ['-c', 'sleep 1005 & wait'],
      cwd: workspace.dir,
      timeoutMs: 60_000,
      limit: 1000,
    };
    const environment = { ...workspace.env, [markVariable]: mark };
    const ended = runTool({ ...call, environment, signal: stop.signal, killOnAbort: true });
    const probes = () => findMembers(tree).filter((one) => one.isProbe);
    await eventually('its processes', () => probes().some(({ name }) => name === 'sleep'));
    assert.deepEqual([measureTree(tree).descendants, findEscaped({ ...tree, reach: 'session' })], [0, []]);
    stop.abort();
    // Also while they die.
    for (let round = 0; round < 50; round += 1) {
      assert.deepEqual(
        findMembers(tree).filter(({ pid, isProbe }) => !isProbe && pid !== tree.child),
        [],
      );
    }
    assert.equal((await ended).how, 'aborted');
  },
);

test('what says that it is of a probe is ended, whatever session it has, and nobody else', onLinux, async (t) => {
  const script = `
    sleep 1001 & tell child $!
    ${roleVariable}=probe setsid sh -c 'sleep 1006 & echo "below $!"; exec sleep 1007' & tell stray $!`;
  const { tree, pid } = await grow(t, ['child', 'stray', 'below'], script);
  assert.equal(measureTree(tree).descendants, 0);
  endProbes({ ...tree, reach: 'session' });
  await eventually('them to be gone', () => !readIdentity(pid('stray')) && !readIdentity(pid('below')));
  assert.ok(readIdentity(pid('child')));
});
