// What an agent says it did (`pi-completion/v1`), field by field, and the words for how each claim held up. A claim is data: it is taken
// only in the form that is asked for, and what does not have it is told with the place of the fault.
import { plainText } from './excerpt.ts';

export const claimsSchema = 'pi-completion/v1';
const statuses = ['done', 'blocked', 'partial'] as const;
const testResults = ['pass', 'fail', 'skip'] as const;

/** Field names as the agents write them. */
export interface Claims {
  schema: typeof claimsSchema;
  status: (typeof statuses)[number];
  summary: string;
  commands: { command: string; exitCode: number | null; note: string | null }[];
  tests: { name: string; result: (typeof testResults)[number]; note: string | null }[];
  /** `repo`: absolute, or null for the job's own. */
  commits: { sha: string; repo: string | null; subject: string | null }[];
  /** Relative, and inside. */
  filesChanged: string[];
  openIssues: string[];
  blockedReason: string | null;
}

/** `verified` by what is there, `contradicted` by it, `unverifiable` from here, or only `recorded`. */
export type ClaimResult = 'verified' | 'contradicted' | 'unverifiable' | 'recorded';

export interface ClaimVerdict {
  kind: 'status' | 'commit' | 'file' | 'test' | 'command';
  claim: string;
  /** What was looked at. */
  check: string;
  result: ClaimResult;
  detail: string;
}

/** The form in one sentence, for the brief. */
export const claimsForm = `After that one fenced block that is opened by \`\`\`completion on a line of its own and holds one JSON object: {"schema": "${claimsSchema}", "status": "done" | "partial" | "blocked", "blockedReason": "only when blocked", "summary": "one line", "commits": [{"sha": "...", "subject": "..."}], "filesChanged": ["path relative to the folder"], "tests": [{"name": "...", "result": "pass" | "fail" | "skip"}], "commands": [{"command": "...", "exitCode": 0}], "openIssues": ["..."]}. Claim only what you really did: it is checked.`;

/** A small one as it stands in an answer, for people. */
export const claimsExample = [
  '```completion',
  `{"schema": "${claimsSchema}", "status": "done",`,
  ' "summary": "The parser takes empty input.",',
  ' "commits": [{"sha": "4f1c2ab9"}], "filesChanged": ["src/parse.ts"],',
  ' "tests": [{"name": "unit", "result": "pass"}]}',
  '```',
].join('\n');

const most = { text: 10_000, line: 4096, entries: 1000, commits: 100 };

/** Where a value does not have the form. */
export class SchemaFault extends Error {
  readonly fieldPath: string;

  constructor(fieldPath: string, reason: string) {
    super(reason);
    this.fieldPath = fieldPath;
  }
}

/** Throws a SchemaFault. What is not in the form is left out, and never looked into. */
export function readClaims(value: unknown): Claims {
  const block = objectAt('', value);
  const schema = block.schema;
  if (schema !== claimsSchema) throw new SchemaFault('schema', `${show(schema)}; allowed: ${claimsSchema}`);
  const status = wordAt('status', block.status, statuses);
  const reason = block.blockedReason ?? null;
  if (status === 'blocked' || reason !== null) filledAt('blockedReason', reason);
  return {
    schema,
    status,
    summary: filledAt('summary', block.summary),
    commands: listAt('commands', block.commands, most.entries, (at, one) => {
      const { command, exitCode, note } = objectAt(at, one);
      return {
        command: filledAt(`${at}.command`, command, most.line),
        exitCode: codeAt(`${at}.exitCode`, exitCode ?? null),
        note: noteAt(`${at}.note`, note),
      };
    }),
    tests: listAt('tests', block.tests, most.entries, (at, one) => {
      const { name: title, result, note } = objectAt(at, one);
      return {
        name: filledAt(`${at}.name`, title, most.line),
        result: wordAt(`${at}.result`, result, testResults),
        note: noteAt(`${at}.note`, note),
      };
    }),
    commits: listAt('commits', block.commits, most.commits, (at, one) => {
      const { sha, repo, subject } = objectAt(at, one);
      return {
        sha: shaAt(`${at}.sha`, sha),
        repo: repoAt(`${at}.repo`, repo ?? null),
        subject: noteAt(`${at}.subject`, subject),
      };
    }),
    filesChanged: listAt('filesChanged', block.filesChanged, most.entries, pathAt),
    openIssues: listAt('openIssues', block.openIssues, most.entries, (at, one) => filledAt(at, one)),
    blockedReason: reason === null ? null : filledAt('blockedReason', reason),
  };
}

function objectAt(at: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SchemaFault(at, `${show(value)}; allowed: an object`);
  return value as Record<string, unknown>;
}

function listAt<T>(at: string, value: unknown, limit: number, read: (at: string, one: unknown) => T): T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new SchemaFault(at, `${show(value)}; allowed: a list`);
  if (value.length > limit) throw new SchemaFault(at, `${value.length} entries; at most ${limit}`);
  return value.map((one, n) => read(`${at}[${n}]`, one));
}

function wordAt<T extends string>(at: string, value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new SchemaFault(at, `${show(value)}; allowed: ${allowed.join(', ')}`);
  return found;
}

function filledAt(at: string, value: unknown, limit = most.text): string {
  if (typeof value !== 'string') throw new SchemaFault(at, `${show(value)}; allowed: a text`);
  if (value.length > limit) throw new SchemaFault(at, `${value.length} characters; at most ${limit}`);
  const text = plainText(value).trim();
  if (text === '') throw new SchemaFault(at, 'it is empty');
  return text;
}

function noteAt(at: string, value: unknown): string | null {
  return value === undefined || value === null || value === '' ? null : filledAt(at, value);
}

function codeAt(at: string, value: unknown): number | null {
  if (value === null || Number.isSafeInteger(value)) return value as number | null;
  throw new SchemaFault(at, `${show(value)}; allowed: a whole number, or null`);
}

function shaAt(at: string, value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{7,64}$/i.test(value)) return value.toLowerCase();
  throw new SchemaFault(at, `${show(value)}; allowed: 7 to 64 hex digits`);
}

function repoAt(at: string, value: unknown): string | null {
  if (value === null) return null;
  const isPath = typeof value === 'string' && value.startsWith('/') && value.length <= most.line;
  if (!isPath || value.includes('\0')) throw new SchemaFault(at, `${show(value)}; allowed: an absolute path`);
  return value;
}

/** As it is: a name of a file may hold nearly everything. */
function pathAt(at: string, value: unknown): string {
  const isPath = typeof value === 'string' && value !== '' && value.length <= most.line && !value.includes('\0');
  if (!isPath || value.startsWith('/') || value.split('/').includes('..'))
    throw new SchemaFault(at, `${show(value)}; allowed: a relative path without ..`);
  return value;
}

/** Only what is short by itself: a value may be nested deeper than anything that writes JSON can follow. */
function show(value: unknown): string {
  if (typeof value === 'string')
    return `${JSON.stringify(plainText(value.slice(0, 60)))}${value.length > 60 ? '...' : ''}`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return value === undefined ? 'it is missing' : String(value);
}
