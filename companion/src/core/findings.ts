// Structured findings of a review (`review --schema`): the form that is asked for, and how it is read out of an answer. The answer
// is data: what does not have the form is told with its reason, never guessed.

import { messageOf } from './errors.ts';
import { byteLength, excerpt, plainText } from './excerpt.ts';
import { closes, type Fence, fenceOf, linesOf } from './fences.ts';

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

export interface Finding {
  severity: (typeof severities)[number];
  title: string;
  /** What happens, and when. */
  detail: string;
  /** Path below the workspace; null when it is about no single file. */
  file: string | null;
  /** 1, 2, 3, ...; null when not known. */
  line: number | null;
  /** How to mend it. */
  suggestion: string | null;
}

export interface Findings {
  /** One of `approve`, `changes_requested`, `inconclusive`. */
  verdict: 'approve' | 'changes_requested' | 'inconclusive';
  summary: string;
  findings: Finding[];
}

export type ParsedFindings = { kind: 'ok'; value: Findings } | { kind: 'fault'; reason: string };

const verdicts = ['approve', 'changes_requested', 'inconclusive'] as const;
const mostFindings = 500;
/** Of the JSON text. The record of a job, which holds the findings, stays far below what its readers take. */
const mostBytes = 1024 * 1024;
/** Characters of each text. */
const most = { summary: 10_000, title: 500, detail: 10_000, file: 4096, suggestion: 10_000 };

/** The form in words and by example, for the brief. */
export const findingsForm = `Your final message must end with one JSON object in a \`\`\`json block, and nothing after it:
{"verdict": "approve" | "changes_requested" | "inconclusive", "summary": "one paragraph", "findings": [{"severity": "critical" | "high" | "medium" | "low" | "info", "title": "one line", "detail": "what happens and when", "file": "path below the workspace, or null", "line": 12 or null, "suggestion": "how to mend it, or null"}]}
No findings: an empty list.`;

/** Never throws, and takes time in proportion to the answer, whatever is in it. */
export function parseFindings(answer: string): ParsedFindings {
  const text = jsonTextOf(answer);
  if (text === undefined) return fault('the answer holds no JSON object');
  const bytes = byteLength(text);
  if (bytes > mostBytes) return fault(`the findings have ${bytes} bytes; at most ${mostBytes}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fault(`its JSON does not parse: ${excerpt(plainText(messageOf(error)), 240)}`);
  }
  return readFindings(value);
}

/** The last fenced block that holds an object, else the whole answer when it is one. */
function jsonTextOf(answer: string): string | undefined {
  const block = lastBlock(answer);
  if (block !== undefined) return block;
  const whole = answer.trim();
  if (whole.startsWith('{')) return whole;
  // Prose before a bare object: from the last line that begins one.
  const begin = whole.lastIndexOf('\n{');
  return begin >= 0 && whole.endsWith('}') ? whole.slice(begin + 1) : undefined;
}

/** One pass over the lines. No line of a JSON text is a fence, so a fence that says `json` begins a block wherever it stands. */
function lastBlock(answer: string): string | undefined {
  let found: string | undefined;
  let open: (Fence & { from: number }) | undefined;
  for (const { line, from, next } of linesOf(answer)) {
    const fence = fenceOf(line);
    if (fence && open && closes(fence, open)) {
      const text = isJson(open) || open.info === '' ? answer.slice(open.from, from).trim() : '';
      if (text.startsWith('{')) found = text;
      open = undefined;
    } else if (fence && (!open || isJson(fence))) {
      open = { ...fence, from: next };
    }
  }
  return found;
}

function isJson({ info }: Fence): boolean {
  return /^json\w*$/i.test(info);
}

function readFindings(value: unknown): ParsedFindings {
  if (!isObject(value)) return fault('the JSON is no object');
  const { verdict, summary, findings } = value;
  if (!isOneOf(verdict, verdicts)) return fault(`verdict is ${show(verdict)}; allowed: ${verdicts.join(', ')}`);
  const reason = textFault('summary', summary);
  if (reason !== undefined || typeof summary !== 'string') return fault(reason ?? 'summary is no text');
  if (!Array.isArray(findings)) return fault('findings is no list');
  if (findings.length > mostFindings) return fault(`${findings.length} findings; at most ${mostFindings}`);
  const read: Finding[] = [];
  for (const [n, one] of findings.entries()) {
    const reason = findingFault(one);
    if (reason !== undefined) return fault(`findings[${n}]: ${reason}`);
    const { severity, title, detail, file, line, suggestion } = one as unknown as Finding;
    read.push({ severity, title, detail, file: file ?? null, line: line ?? null, suggestion: suggestion ?? null });
  }
  return { kind: 'ok', value: { verdict, summary, findings: read } };
}

function findingFault(one: unknown): string | undefined {
  if (!isObject(one)) return 'no object';
  if (!isOneOf(one.severity, severities)) return `severity is ${show(one.severity)}; allowed: ${severities.join(', ')}`;
  for (const name of ['title', 'detail', 'file', 'suggestion'] as const) {
    const value = one[name] ?? null;
    if (value === null && (name === 'file' || name === 'suggestion')) continue;
    const reason = textFault(name, value);
    if (reason !== undefined) return reason;
  }
  const { line } = one;
  if (line !== null && line !== undefined && !(Number.isSafeInteger(line) && Number(line) > 0))
    return `line is ${show(line)}; allowed: a number from 1 on, or null`;
  return undefined;
}

function textFault(name: keyof typeof most, value: unknown): string | undefined {
  if (typeof value !== 'string') return `${name} is no text`;
  return value.length <= most[name] ? undefined : `${name} has ${value.length} characters; at most ${most[name]}`;
}

function fault(reason: string): ParsedFindings {
  return { kind: 'fault', reason };
}

/** Only what is short by itself: a value may be nested deeper than anything that writes JSON can follow. */
function show(value: unknown): string {
  if (typeof value === 'string') return `${JSON.stringify(value.slice(0, 60))}${value.length > 60 ? '...' : ''}`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return value === undefined ? 'missing' : String(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOneOf<T extends string>(value: unknown, allowed: readonly T[]): value is T {
  return allowed.some((one) => one === value);
}
