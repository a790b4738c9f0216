// Why a tree is ended: the first reason counts, on disk, and an end that was there before counts more than any.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { type EndReason, parseReason } from '../../companion/src/core/outcome.ts';
import type { Claim } from '../../companion/src/worker/claim.ts';
import { claimReason } from '../../companion/src/worker/stop.ts';
import { makeJob, makePlace, makeSpec } from '../store/job-record.ts';

const exit = { exit_code: 0, signaled: false, spawn_failed: false };

function makeClaim(t: TestContext, files: Parameters<typeof makeJob>[1] = {}): Claim {
  const { root } = makePlace(t);
  const spec = makeSpec();
  const paths = makeJob(root, files);
  mkdirSync(paths.started, { recursive: true });
  return {
    root,
    paths,
    spec,
    turn: null,
    self: spec.launcher,
    generation: 1,
    hasFifo: false,
    cgroup: null,
    release: () => undefined,
  };
}

test('the first reason is written down and counts, also for whoever comes later with another', (t) => {
  const claim = makeClaim(t);
  assert.equal(claimReason(claim, 'hard_timeout'), 'hard_timeout');
  assert.equal(readFileSync(claim.paths.reason, 'utf8'), 'hard_timeout\n');
  assert.equal(claimReason(claim, 'canceled'), 'hard_timeout');
  assert.equal(claimReason(claim, 'stalled'), 'hard_timeout');
  assert.equal(readFileSync(claim.paths.reason, 'utf8'), 'hard_timeout\n');
});

test('every reason can be the first one, and is read back as itself', (t) => {
  const reasons: EndReason[] = [
    'lingered',
    'canceled',
    'hard_timeout',
    'first_output_timeout',
    'stalled',
    'sign_in',
    'state_vanished',
  ];
  for (const reason of reasons) {
    const claim = makeClaim(t);
    assert.equal(claimReason(claim, reason), reason);
    assert.equal(parseReason(readFileSync(claim.paths.reason, 'utf8').trim()), reason);
  }
});

test('a reason that the guard of the shim wrote first counts', (t) => {
  const claim = makeClaim(t, { reason: 'hard_timeout\n' });
  assert.equal(claimReason(claim, 'canceled'), 'hard_timeout');
});

test('a child that has ended by itself keeps its own end, and no reason is written', (t) => {
  const claim = makeClaim(t, { exit });
  assert.equal(claimReason(claim, 'canceled'), undefined);
  assert.equal(existsSync(claim.paths.reason), false);
});

test('a child that ended after the guard had a reason has that reason', (t) => {
  const claim = makeClaim(t, { exit, reason: 'hard_timeout\n' });
  assert.equal(claimReason(claim, 'canceled'), 'hard_timeout');
});

test('a child that ends between the look and the reason keeps its own end', (t) => {
  const claim = makeClaim(t);
  // exit.json is there as soon as the reason is: the second look finds it.
  const folder = claim.paths.folder;
  const paths = { ...claim.paths };
  Object.defineProperty(paths, 'reason', {
    get() {
      writeFileSync(`${folder}/exit.json`, JSON.stringify(exit));
      return claim.paths.reason;
    },
  });
  assert.equal(claimReason({ ...claim, paths }, 'canceled'), undefined);
  assert.equal(existsSync(claim.paths.reason), false);
});

test('a reason file that is damaged does not hide the reason of ours', (t) => {
  for (const reason of ['', 'odd\n', '\0'.repeat(10)]) {
    assert.equal(claimReason(makeClaim(t, { reason }), 'canceled'), 'canceled');
  }
});

test('a folder that has vanished keeps nobody from ending the tree', (t) => {
  const claim = makeClaim(t);
  rmSync(claim.paths.folder, { recursive: true });
  assert.equal(claimReason(claim, 'hard_timeout'), 'hard_timeout');
});
