// Drawing in place: what was drawn is taken back, also after the terminal became narrower; nothing wraps, nothing stays changed.
import assert from 'node:assert/strict';
import test from 'node:test';
import { makeScreen } from '../../companion/src/output/screen.ts';
import { cutToWidth, widthOf } from '../../companion/src/output/width.ts';

/** A terminal of so many columns and rows that keeps what is on it: enough of one to play what a screen writes. */
function makeTerminal(columns: number, rows: number) {
  const size = { columns, rows };
  const lines: string[] = ['before'];
  let row = 1;
  const written: string[] = [];
  const write = (text: string): void => {
    written.push(text);
    for (const [token] of text.matchAll(/\x1b\[[?\d;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+/g)) {
      const up = /^\x1b\[(\d+)A$/.exec(token);
      if (up) row = Math.max(0, row - Number(up[1]));
      else if (token === '\n') row += 1;
      else if (token === '\x1b[J') lines.length = row;
      else if (!token.startsWith('\x1b') && token !== '\r') {
        assert.ok(widthOf(token) < size.columns, `it wraps: ${token}`);
        lines[row] = token;
      }
    }
  };
  return { size, write, written, lines };
}

const screenOf = (terminal: ReturnType<typeof makeTerminal>) =>
  makeScreen({ size: () => terminal.size, write: terminal.write, onResize: () => () => undefined });

test('each drawing replaces the one before, and what stood above stays', () => {
  const terminal = makeTerminal(40, 10);
  const screen = screenOf(terminal);
  screen.draw('one\ntwo\nthree');
  assert.deepEqual(terminal.lines, ['before', 'one', 'two', 'three']);
  screen.draw('1\n2');
  assert.deepEqual(terminal.lines, ['before', '1', '2']);
  screen.clear();
  assert.deepEqual(terminal.lines, ['before']);
  screen.clear();
  assert.deepEqual(terminal.lines, ['before']);
});

test('after somebody else wrote, it goes on below', () => {
  const terminal = makeTerminal(40, 10);
  const screen = screenOf(terminal);
  screen.draw('one');
  screen.leave();
  screen.draw('two');
  assert.deepEqual(terminal.lines, ['before', 'one', 'two']);
});

test('no line is as wide as the terminal, no drawing as high, and what is left out is counted', () => {
  const terminal = makeTerminal(20, 5);
  screenOf(terminal).draw(['x'.repeat(50), '\u6f22'.repeat(30), '\x1b[31mred\x1b[39m', ...'abcdef'].join('\n'));
  assert.deepEqual(terminal.lines.slice(1), [
    `${'x'.repeat(18)}\u2026`,
    `${'\u6f22'.repeat(9)}\u2026`,
    'red',
    '... and 6 more',
  ]);
});

test('lines that a narrower terminal has broken are all taken back', () => {
  const terminal = makeTerminal(40, 10);
  const screen = screenOf(terminal);
  screen.draw(`${'x'.repeat(30)}\n${'y'.repeat(10)}`);
  terminal.size.columns = 16;
  screen.draw('z');
  // 30 columns stand on two lines of 16, and 10 on one.
  assert.match(terminal.written.at(-1) ?? '', /^\r\x1b\[3A/);
});

test('whatever setting it changes, it changes back in the same write', () => {
  const terminal = makeTerminal(40, 10);
  const screen = screenOf(terminal);
  screen.draw('one');
  screen.clear();
  for (const text of terminal.written) {
    const settings = [...text.matchAll(/\x1b\[\?(\d+)([hl])/g)];
    assert.deepEqual(
      settings.filter(([, , to]) => to === 'l').map(([, name]) => name),
      settings.filter(([, , to]) => to === 'h').map(([, name]) => name),
    );
    assert.notEqual(settings.at(-1)?.[2], 'l');
  }
});

test('widths: letters of East Asia and emoji take two columns, marks over others none', () => {
  assert.equal(widthOf('abc'), 3);
  assert.equal(widthOf('\u6f22\u5b57'), 4);
  assert.equal(widthOf('e\u0301'), 1);
  assert.equal(widthOf('\u{1f600}'), 2);
  assert.equal(cutToWidth('abcdef', 6), 'abcdef');
  assert.equal(cutToWidth('abcdef', 5), 'abcd\u2026');
  assert.equal(cutToWidth('\u6f22\u5b57\u6f22', 4), '\u6f22\u2026');
});
