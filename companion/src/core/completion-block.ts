// The completion block of an answer: the last fenced block that says `completion` (or `json`, when its text names our schema). Found in one
// pass over the lines, parsed whatever is in it, never guessed.
import { type Claims, readClaims, SchemaFault } from './claims.ts';
import { byteLength, excerpt, plainText } from './excerpt.ts';
import { closes, type Fence, fenceOf, linesOf } from './fences.ts';
import { jsonFault } from './json-fault.ts';
import { claimsBytes } from './limits.ts';

export type BlockErrorCode = 'NO_BLOCK' | 'UNCLOSED_FENCE' | 'OVERSIZED_BLOCK' | 'MALFORMED_JSON' | 'SCHEMA_VIOLATION';

export interface BlockError {
  code: BlockErrorCode;
  message: string;
  /** Of a SCHEMA_VIOLATION: where (`commits[0].sha`; empty: the whole). */
  fieldPath: string | null;
}

export type ParsedClaims = { kind: 'ok'; claims: Claims } | { kind: 'fault'; error: BlockError };

/** Never throws. */
export function parseClaims(answer: string): ParsedClaims {
  const found = findBlock(answer);
  if (found === 'none')
    return blockFault('NO_BLOCK', 'it holds no completion block (a fenced block that begins with ```completion)');
  if (found === 'unclosed') return blockFault('UNCLOSED_FENCE', 'its last completion block is not closed');
  const bytes = byteLength(found.text);
  if (bytes > claimsBytes)
    return blockFault('OVERSIZED_BLOCK', `its completion block has ${bytes} bytes; at most ${claimsBytes}`);
  return parseBlock(found.text);
}

export function blockFault(code: BlockErrorCode, message: string, fieldPath: string | null = null): ParsedClaims {
  return { kind: 'fault', error: { code, message, fieldPath } };
}

function parseBlock(text: string): ParsedClaims {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const reason = excerpt(plainText(jsonFault(text) ?? ''), 240);
    return blockFault('MALFORMED_JSON', `the JSON of its completion block does not parse: ${reason}`);
  }
  try {
    return { kind: 'ok', claims: readClaims(value) };
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    const where = error.fieldPath === '' ? 'the completion block' : error.fieldPath;
    return blockFault('SCHEMA_VIOLATION', `${where} is not as it must be: ${error.message}`, error.fieldPath);
  }
}

type Open = Fence & { from: number };

/** A block that is quoted in a longer fence is somebody's example; one that begins where another was not closed counts. */
function findBlock(answer: string): { text: string } | 'none' | 'unclosed' {
  let found: { text: string } | 'none' = 'none';
  let open: Open | undefined;
  for (const { line, from, next } of linesOf(answer)) {
    const fence = fenceOf(line);
    if (!fence) continue;
    if (open && closes(fence, open)) {
      const text = answer.slice(open.from, from).trim();
      if (isCompletion(open) || (isJson(open) && namesSchema(text))) found = { text };
      open = undefined;
    } else if (!open || (isCompletion(fence) && fence.mark === open.mark && fence.length >= open.length)) {
      open = { ...fence, from: next };
    }
  }
  if (open && (isCompletion(open) || (isJson(open) && namesSchema(answer.slice(open.from))))) return 'unclosed';
  return found;
}

function isCompletion({ info }: Fence): boolean {
  return /^completion$/i.test(info);
}

function isJson({ info }: Fence): boolean {
  return /^json$/i.test(info);
}

/** Tolerated: other blocks of JSON are nobody's claims. */
function namesSchema(text: string): boolean {
  return /^\s*\{/.test(text) && /"schema"\s*:\s*"pi-completion\//.test(text);
}
