// Every pattern that a backend holds against an agent's words ends in time, also against a megabyte made of the words that it looks
// for. A pattern that begins anew at each of them and runs to the end each time would need minutes; the bound is generous, so that
// a busy machine does not miss it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type Backend, makeReading } from '../../companion/src/backends/backend.ts';
import { kindOfWords, resetOf } from '../../companion/src/backends/failures.ts';
import { backends } from '../../companion/src/backends/registry.ts';
import { plainText, tail } from '../../companion/src/core/excerpt.ts';
import { tailBytes } from '../../companion/src/core/limits.ts';

const bytes = 1024 * 1024;
const limitMs = 20_000;
const fixtures = join(import.meta.dirname, '../fixtures/agents');

/** Words of the patterns in failures.ts, and of what several backends share. */
const common = ['usage limit try again at ', '\n', '\u009d', '\x1b]'];
const own: Record<string, string[]> = {
  agy: ['print timeout after ', 'root agent idle; waiting up to ', 'jetski: ', '"x" ', 'conversation '],
  claude: ['No such tool available ', 'resets ', '|1234567890 ', 'hit your '],
  codex: ['Reconnecting '],
  copilot: ["Tool '", "' does not exist"],
  cursor: ['session ', 'hit your '],
  gemini: ['"code": ', 'Attempt 1 failed '],
  opencode: ['rejected permission '],
  pi: ['Tool x not found ', '401 ', 'a'],
  qwen: ['[API Error: ', '[API Error: ]', 'No such tool available ', 'Unknown arguments: '],
};

/** One line of every shape that the recorded runs have; cursor's are written from its documentation. */
const shapes: Record<string, string[]> = {
  cursor: [
    '{"type":"system","subtype":"init","session_id":"s","model":"m"}',
    '{"type":"assistant","message":{"content":[{"type":"text","text":"some words"}]}}',
    '{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"a b"},"result":{"rejected":{"reason":"a b"}}}}}',
    '{"type":"result","subtype":"success","is_error":false,"result":"some words"}',
    '{"type":"result","subtype":"error","is_error":true,"result":"some words"}',
  ],
};

interface Place {
  /** The whole run, and which of its lines is filled with words. */
  lines: string[];
  at: number;
}

function placesOf(id: string): Place[] {
  const documented = shapes[id];
  if (documented) return documented.map((_, at) => ({ lines: documented, at }));
  const found = new Map<string, Place>();
  for (const name of readdirSync(join(fixtures, id)).filter((file) => file.endsWith('.jsonl'))) {
    const lines = readFileSync(join(fixtures, id, name), 'utf8').split('\n');
    for (const [at, line] of lines.entries()) {
      const shape = shapeOf(parse(line), '');
      if (shape.includes('*')) found.set(shape, { lines, at });
    }
  }
  return [...found.values()];
}

/** Texts become `*`, and short words stay: they say what kind of event it is. */
function shapeOf(value: unknown, key: string): string {
  if (typeof value === 'string') return isText(value, key) ? '*' : /^[a-z_.-]{1,30}$/i.test(value) ? value : '';
  if (Array.isArray(value)) return `[${[...new Set(value.map((one) => shapeOf(one, key)))].join()}]`;
  if (typeof value !== 'object' || value === null) return '';
  const parts = Object.entries(value).map(([name, one]) => [name, shapeOf(one, name)]);
  return `{${parts.filter(([, shape]) => shape !== '').join()}}`;
}

function isText(value: string, key: string): boolean {
  return /\s/.test(value) || /^(?:text|delta|message|output|result|response|error|content)$/.test(key);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The last texts of a line: some CLIs repeat all messages of a run in one. */
function fill(line: string, words: string): string {
  let texts = 0;
  JSON.parse(line, (key, value) => (texts += typeof value === 'string' && isText(value, key) ? 1 : 0));
  return JSON.stringify(
    JSON.parse(line, (key, value) => {
      if (typeof value !== 'string' || !isText(value, key)) return value;
      texts -= 1;
      return texts < 3 ? words : value;
    }),
  );
}

for (const backend of backends.filter(({ id }) => id !== 'custom') as Backend[]) {
  test(`${backend.id} reads a megabyte of the words that it looks for in time`, (t) => {
    const places = placesOf(backend.id);
    assert.ok(places.length > 1);
    for (const words of [...common, ...(own[backend.id] ?? [])]) {
      const text = `x ${words.repeat(Math.ceil(bytes / words.length))}x`;
      const started = performance.now();
      const stderrTail = tail(text, tailBytes).text;
      for (const { lines, at } of places) {
        const reading = makeReading();
        // And the run once more, for what looks back at the words.
        const hostile = fill(lines[at] ?? '', text);
        for (const line of [...lines.slice(0, at), hostile, ...lines]) backend.read(line, reading, '');
        for (const one of text.split('\n').slice(0, 100)) backend.readError?.(one, reading, '');
        const ending = { exitCode: 1, signal: null, byItself: true, stderrTail };
        backend.close?.(reading, ending, { resume: null, earlierError: null });
      }
      const took = performance.now() - started;
      t.diagnostic(`${JSON.stringify(words)}: ${Math.round(took)} ms, ${places.length} lines`);
      assert.ok(took < limitMs, `${JSON.stringify(words)} took ${took} ms`);
    }
  });

  test(`${backend.id} judges a megabyte of settings in time`, () => {
    const { policy, morePolicies = [] } = backend;
    for (const { findFault } of [...(policy ? [policy] : []), ...morePolicies])
      for (const words of ['/* ', '\\"', '// ', '[', '{"a":', '"permissions":']) {
        const started = performance.now();
        try {
          findFault(words.repeat(bytes / words.length), 'restricted', null);
        } catch {
          // Refused by the caller.
        }
        assert.ok(performance.now() - started < limitMs, words);
      }
  });
}

test('a megabyte of words on a failure is sorted, and its return told or not, in time', () => {
  for (const words of [
    'try again at ',
    'try again in 1',
    'resets at ',
    'resets in 3h ',
    '"resets_at": ',
    'quota ',
    ' ',
  ]) {
    const text = `usage limit ${words.repeat(Math.ceil(bytes / words.length))}\nend `;
    const started = performance.now();
    resetOf(text);
    kindOfWords(text, [['auth', /\bsession\b.*\bnot found/s]]);
    assert.ok(performance.now() - started < limitMs, words);
  }
});

test('control sequences that never end are taken out in time', () => {
  for (const words of [
    '\u009d',
    '\u0090\u0098',
    '\u009d]0;',
    '\x1b',
    '\x1b]0;',
    '\x1b[',
    '\x1b[1;',
    '\u009b1',
    '\x1bP \x1b',
  ]) {
    const started = performance.now();
    assert.doesNotMatch(plainText(words.repeat(Math.ceil(bytes / words.length))), /[\x1b\u0090-\u009f]/);
    assert.ok(performance.now() - started < limitMs, JSON.stringify(words));
  }
});
