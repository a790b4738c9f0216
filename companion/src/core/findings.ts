// Structured findings of a review (`review --schema`): the form that is asked for, and how it is read out of an answer. The answer
// is data: what does not have the form is told with its reason, never guessed.

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

/** The form in words and by example, for the brief. */
export const findingsForm = `Your final message must end with one JSON object in a \`\`\`json block, and nothing after it:
{"verdict": "approve" | "changes_requested" | "inconclusive", "summary": "one paragraph", "findings": [{"severity": "critical" | "high" | "medium" | "low" | "info", "title": "one line", "detail": "what happens and when", "file": "path below the workspace, or null", "line": 12 or null, "suggestion": "how to mend it, or null"}]}
No findings: an empty list.`;

export function parseFindings(answer: string): ParsedFindings {
  const text = jsonTextOf(answer);
  if (text === undefined) return fault('the answer holds no JSON object');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fault(`its JSON does not parse: ${error instanceof Error ? error.message : String(error)}`);
  }
  return readFindings(value);
}

/** The last fenced block, else the whole answer when it is an object. */
function jsonTextOf(answer: string): string | undefined {
  const blocks = [...answer.matchAll(/^[ \t]*(`{3,}|~{3,})[ \t]*(?:json\w*)?[ \t]*\r?\n([\s\S]*?)^[ \t]*\1[ \t]*$/gim)];
  const block = blocks.map((found) => (found[2] ?? '').trim()).findLast((text) => text.startsWith('{'));
  if (block !== undefined) return block;
  const whole = answer.trim();
  if (whole.startsWith('{')) return whole;
  // Prose before a bare object: from the last line that begins one.
  const begin = whole.lastIndexOf('\n{');
  return begin >= 0 && whole.endsWith('}') ? whole.slice(begin + 1) : undefined;
}

function readFindings(value: unknown): ParsedFindings {
  if (!isObject(value)) return fault('the JSON is no object');
  const { verdict, summary, findings } = value;
  if (!isOneOf(verdict, verdicts)) return fault(`verdict is ${show(verdict)}; allowed: ${verdicts.join(', ')}`);
  if (typeof summary !== 'string') return fault('summary is no text');
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
  for (const name of ['title', 'detail']) if (typeof one[name] !== 'string') return `${name} is no text`;
  for (const name of ['file', 'suggestion'])
    if (one[name] !== null && one[name] !== undefined && typeof one[name] !== 'string')
      return `${name} is neither text nor null`;
  const { line } = one;
  if (line !== null && line !== undefined && !(Number.isInteger(line) && Number(line) > 0))
    return `line is ${show(line)}; allowed: a number from 1 on, or null`;
  return undefined;
}

function fault(reason: string): ParsedFindings {
  return { kind: 'fault', reason };
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, 60);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOneOf<T extends string>(value: unknown, allowed: readonly T[]): value is T {
  return allowed.some((one) => one === value);
}
