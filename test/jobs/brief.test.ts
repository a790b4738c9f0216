// The text around a task: the task is in it byte for byte, the rest says where the agent stands and what holds.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseClaims } from '../../companion/src/core/completion-block.ts';
import { findQuestion } from '../../companion/src/core/handback.ts';
import type { Spec, StaffPart, WorkspaceContext } from '../../companion/src/core/job.ts';
import { modeIds } from '../../companion/src/core/modes.ts';
import { makeBrief } from '../../companion/src/jobs/brief.ts';

const context: WorkspaceContext = {
  cwd: '/w',
  at: '2026-11-30T12:00:00.000Z',
  git: { root: '/w', branch: 'main', head: 'a'.repeat(40), subject: 'Add it', dirty: ['M a.txt'], dirty_count: 3 },
};
const facts = { context, review: [], stateRoot: '/w/.job-state' };

function spec(staff: Partial<StaffPart>, more: Partial<Spec> = {}): Spec {
  const part = { mode: 'staffer', profile: 'standard', prompt: 'Do it.', resume: null, brief: true, ...staff };
  return { cwd: '/w', deadline_ms: 3_600_000, staff: part, ...more } as unknown as Spec;
}

const hazards = ['--model x', '/help', '</task>', 'a\r\nb', ' two  ', '"\'\\$(x)`y`', '\u{1f600}\u202e'];
for (const prompt of hazards) {
  test(`the task stands byte for byte on lines of its own: ${JSON.stringify(prompt)}`, () => {
    for (const mode of modeIds) {
      const brief = makeBrief(spec({ mode, prompt }), facts);
      assert.ok(brief.includes(`<task>\n${prompt}\n</task>`), mode);
      assert.ok(!brief.startsWith('/') && !brief.startsWith('-'));
    }
    assert.ok(makeBrief(spec({ prompt, resume: 'C' }), facts).includes(`<task>\n${prompt}\n</task>`));
  });
}

test('without a brief (a program of the user, an older record) the task goes as it is', () => {
  assert.equal(makeBrief(spec({ brief: false, prompt: '/x' }), facts), '/x');
  assert.equal(makeBrief(spec({ mode: 'of-a-later-release', prompt: '/x' }), facts), '/x');
});

test('it says folder, branch, commit, date, what was dirty, and how much is left out', () => {
  const brief = makeBrief(spec({}), facts);
  for (const part of [
    '/w',
    'branch main',
    'aaaaaaaaaaaa Add it',
    '2026-11-30',
    'M a.txt',
    'and 2 more',
    '60 min',
    '/w/.job-state',
  ])
    assert.ok(brief.includes(part), part);
});

test('only a mode that may write is told where, and a reader is told to change nothing', () => {
  assert.match(makeBrief(spec({ mode: 'implement' }), facts), /Write only below \/w/);
  const review = makeBrief(spec({ mode: 'review', profile: 'restricted' }), { ...facts, review: ['git diff HEAD'] });
  assert.doesNotMatch(review, /Write only below/);
  assert.match(review, /Change nothing/);
  assert.match(review, /What to review:\n- git diff HEAD/);
});

test('a restart tells the old context as history; a follow-up repeats no role', () => {
  const old = { ...context, at: '2026-11-01T00:00:00.000Z' };
  assert.match(
    makeBrief(spec({ historical: old }), facts),
    /historical: it no longer holds\):\n- Folder: \/w\n- Date: 2026-11-01/,
  );
  const next = makeBrief(spec({ resume: 'C' }), facts);
  assert.doesNotMatch(next, /You carry out/);
  assert.match(next, /branch main/);
});

test('names of branches and files cannot bring control sequences in', () => {
  const git = { ...context.git!, subject: 'x\u001b[31my' };
  assert.ok(!makeBrief(spec({}), { ...facts, context: { ...context, git } }).includes('\u001b'));
});

test('structured findings are asked for only with --schema', () => {
  assert.match(makeBrief(spec({ mode: 'review', schema: true }), facts), /one JSON object/);
  assert.doesNotMatch(makeBrief(spec({ mode: 'review' }), facts), /one JSON object/);
});

test('a hand-back folder is told with the id, the names, the question and the marker; and without one nothing of it', () => {
  const handback = { dir: '/h', baseline: {} };
  for (const resume of [null, 'C']) {
    const brief = makeBrief(spec({ resume }, { id: 'staffer-1-2', handback }), facts);
    for (const part of ['job staffer-1-2', '/h', 'JOB_HANDBACK', 'NN-name.md', '00-declared.md', '99-left.md'])
      assert.ok(brief.includes(part), part);
    for (const part of [
      'NN-answer-name.md',
      'end your turn',
      'status.md',
      'complete.md',
      'FROZEN',
      'PARENT-QUESTION: ',
    ])
      assert.ok(brief.includes(part), part);
    assert.match(brief, /only through the hand-back folder|but through the hand-back folder/);
    assert.doesNotMatch(makeBrief(spec({ resume }), facts), /hand-back|JOB_HANDBACK|PARENT-QUESTION/);
  }
  assert.match(makeBrief(spec({}, { handback }), facts), /Write only below \/w, and into the hand-back folder\./);
});

test('the brief, like wait, gives the answer the number of the question', () => {
  const brief = makeBrief(spec({}, { id: 'staffer-1-2', handback: { dir: '/h', baseline: {} } }), facts);
  assert.match(brief, /answer of the caller to NN-name\.md is NN-answer-name\.md, with the same number/);
  assert.match(brief, /Number your files in order, and go on after the numbers that are there/);
  assert.doesNotMatch(brief, /the answers together/);
});

test('no beginning of the brief asks a question, so that an agent that repeats it does not either', () => {
  const brief = makeBrief(spec({}, { id: 'staffer-1-2', handback: { dir: '/h', baseline: {} } }), facts);
  for (let end = 0; end <= brief.length; end += 1) assert.equal(findQuestion(brief.slice(0, end)), null);
});

test('only implement is asked for a completion block, and its words are no block themselves', () => {
  for (const mode of modeIds) {
    const brief = makeBrief(spec({ mode }), facts);
    assert.equal(brief.includes('pi-completion/v1'), mode === 'implement', mode);
    const parsed = parseClaims(brief);
    assert.equal(parsed.kind === 'fault' && parsed.error.code, 'NO_BLOCK');
  }
});
