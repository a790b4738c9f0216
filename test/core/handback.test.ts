// The words of the hand-back protocol.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answerName, findQuestion, isFrozen, isHandback, isUnfinished } from '../../companion/src/core/handback.ts';

const names: [name: string, counts: boolean][] = [
  ['00-declared.md', true],
  ['01-questions.md', true],
  ['02-answered-questions.md', true],
  ['03-final-answer.md', true],
  ['99-left.md', true],
  ['01-answer-questions.md', false],
  ['01-answers.md', false],
  ['01-answer.md', false],
  ['complete.md', false],
  ['status.md', false],
  ['1-a.md', false],
  ['001-a.md', false],
  ['01-.md', false],
  ['01-a.txt', false],
  ['01-a.md.tmp', false],
  ['.01-a.md', false],
  ['01-a b.md', false],
  ['01-\u00e4.md', false],
  ['01-a/../b.md', false],
  ['01-a.md\n', false],
];
for (const [name, counts] of names) {
  test(`${JSON.stringify(name)} ${counts ? 'is told' : 'wakes nobody'}`, () => assert.equal(isHandback(name), counts));
}

test('the answer to a file has its number and its name, and is a name that wakes nobody', () => {
  assert.equal(answerName('01-questions.md'), '01-answer-questions.md');
  for (const name of ['01-q.md', `07-${'x'.repeat(245)}.md`]) {
    const answer = answerName(name) ?? '';
    assert.ok(answer !== '' && answer.length <= 255);
    assert.equal(isHandback(answer), false);
  }
});

test('what is said at the beginning and at the end asks nothing, so no answer is named for it', () => {
  assert.deepEqual(['00-declared.md', '99-left.md'].map(answerName), [null, null]);
  assert.equal(answerName('00-question.md'), '00-answer-question.md');
});

const answers: [text: string, asks: string | null][] = [
  ['PARENT-QUESTION: 01-questions.md', '01-questions.md'],
  ['I am stuck.\n\nPARENT-QUESTION: 12-a.b_c-d.md\n \n', '12-a.b_c-d.md'],
  ['PARENT-QUESTION: 01-a.md\nPARENT-QUESTION: 02-b.md', '02-b.md'],
  ['PARENT-QUESTION: 01-questions.md\nNo, I have it.', null],
  ['He said PARENT-QUESTION: 01-questions.md', null],
  ['PARENT-QUESTION: NN-name.md', null],
  ['PARENT-QUESTION: ../01-a.md', null],
  ['PARENT-QUESTION: 01-a.md.', null],
  ['"PARENT-QUESTION: 01-a.md"', null],
  [`PARENT-QUESTION: 01-a.md${' '.repeat(50_000)}x`, null],
];
for (const [text, asks] of answers) {
  test(`${JSON.stringify(text.slice(0, 60))} asks ${asks}`, () => assert.equal(findQuestion(text), asks));
}

test('frozen is what ends with the word on a line of its own', () => {
  assert.deepEqual(['FROZEN', 'all done\nFROZEN\n', 'not FROZEN', 'FROZEN\nmore', 'frozen', ''].map(isFrozen), [
    ...[true, true],
    ...[false, false, false, false],
  ]);
});

const openings: [text: string, isOpen: boolean][] = [
  ['NOT FINISHED: the tests', true],
  ['\n\n  NOT FINISHED:', true],
  ['**NOT FINISHED:** the tests', true],
  ['**NOT FINISHED**: the tests', true],
  ['# NOT FINISHED: the tests', true],
  ['## **NOT FINISHED: the tests**', true],
  ['> _NOT FINISHED:_ the tests', true],
  ['NOT FINISHED-goods stock counted, all done', false],
  ['NOT FINISHED goods were counted: 12', false],
  ['NOT FINISHED', false],
  ['NOT FINISHED\n: x', false],
  ['"NOT FINISHED: x" is what I would say', false],
  ['Not finished: x', false],
  ['All done. NOT FINISHED: x', false],
];
for (const [text, isOpen] of openings) {
  test(`${JSON.stringify(text)} ${isOpen ? 'says' : 'does not say'} that something is missing`, () =>
    assert.equal(isUnfinished(text), isOpen));
}
