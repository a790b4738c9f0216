// What `npm view` said, as one of: these versions, nothing there, trouble, or the end of the watch. npm tells its errors as JSON on stdout
// and as lines on stderr; older ones only the second, and a version that is not there as an empty success.
import { excerpt, plainText } from '../core/excerpt.ts';
import { compareVersions } from '../core/version-order.ts';
import type { ToolAnswer } from '../platform/tool.ts';
import type { Fault, Trouble } from './watch.ts';

export interface Found {
  kind: 'found';
  /** Of a range the highest; null: there is none. */
  version: string | null;
  tags: Record<string, string>;
}

export function readAnswer(answer: ToolAnswer): Found | Trouble | Fault {
  if (answer.how === 'timeout') return trouble('timeout', 'npm did not answer in time and was ended');
  if (answer.how === 'flooded') return trouble('shape', 'npm printed more than it can have to say');
  if (answer.how === 'aborted') return trouble('failed', 'the look was stopped');
  if (answer.how === 'failed') return trouble('failed', `npm could not be started: ${short(answer.reason ?? '')}`);
  const stdout = answer.stdout.toString().trim();
  const value = parse(stdout);
  if (answer.code !== 0) return readError(answer, errorOf(value, answer.stderr.toString()));
  if (stdout === '') return nothing;
  const found = (Array.isArray(value) ? value : [value]).map(readVersion).filter((each) => each !== undefined);
  // npm names them as the registry lists them, mostly by date.
  const [highest] = found.sort((a, b) => compareVersions(b.version, a.version));
  return highest ?? trouble('shape', `npm said what is no version: ${short(stdout)}`);
}

const nothing: Found = { kind: 'found', version: null, tags: {} };

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One field alone comes without its name. */
function readVersion(value: unknown): (Found & { version: string }) | undefined {
  if (typeof value === 'string') return { kind: 'found', version: short(value), tags: {} };
  if (!isObject(value) || typeof value.version !== 'string') return undefined;
  const tags = isObject(value['dist-tags']) ? Object.entries(value['dist-tags']) : [];
  const told = tags.filter((tag): tag is [string, string] => typeof tag[1] === 'string').slice(0, 8);
  const shown = told.map(([tag, version]) => [short(tag), short(version)]);
  return { kind: 'found', version: short(value.version), tags: Object.fromEntries(shown) };
}

function errorOf(value: unknown, stderr: string): { code: string; summary: string } {
  const error = isObject(value) && isObject(value.error) ? value.error : {};
  const [, code = ''] = /^npm (?:ERR!|error) code (\S+)/m.exec(stderr) ?? [];
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (?:ERR!|error) ?(?:\d{3} )?/, ''));
  const summary = lines.find((line) => line !== '' && !/^(?:code|syscall|errno|path|npm warn) /.test(line)) ?? '';
  return {
    code: short(typeof error.code === 'string' ? error.code : code),
    summary: short(typeof error.summary === 'string' && error.summary ? error.summary : summary),
  };
}

function readError(answer: ToolAnswer, { code, summary }: { code: string; summary: string }): Found | Trouble | Fault {
  const told = `npm: ${[code, summary].filter(Boolean).join(': ') || `exit code ${answer.code}`}`;
  // env(1) or the shell could not start what npm needs.
  if (code === '' && (answer.code === 126 || answer.code === 127))
    return { kind: 'fault', cause: 'tool_missing', message: `npm cannot run: ${short(answer.stderr.toString())}` };
  // A version that was taken back is not there either.
  if (code === 'E404' || code === 'ETARGET') return nothing;
  if (/^(?:E401|E403|E407|ENEEDAUTH|EOTP|EAUTHUNKNOWN|EAUTHIP)$/.test(code))
    return { kind: 'fault', cause: 'auth', message: told };
  if (/^(?:EINVALIDPACKAGENAME|EINVALIDTAGNAME|EUNSUPPORTEDPROTOCOL|EUSAGE|ENOTCACHED)$/.test(code))
    return { kind: 'fault', cause: 'refused', message: told };
  if (code === 'E429') return trouble('rate_limit', told);
  if (/^E(?:408|425|5\d\d)$/.test(code)) return trouble('server', told);
  if (/TIMEOUT|TIMEDOUT/.test(code)) return trouble('timeout', told);
  if (
    /^(?:ENOTFOUND|ECONN|EAI_|EHOST|ENET|EPIPE|EPROTO|ERR_SOCKET|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|ERR_TLS)/.test(
      code,
    )
  )
    return trouble('network', told);
  return trouble(/JSON|FETCH_ERROR|EINTEGRITY/.test(code) ? 'shape' : 'failed', told);
}

function trouble(cause: Trouble['cause'], message: string): Trouble {
  return { kind: 'trouble', cause, message, retryAfterMs: null };
}

/** Names keep their addresses without a query. */
function short(text: string): string {
  return excerpt(plainText(text).replace(/\?\S*/g, '?...').replace(/\s+/g, ' ').trim(), 120);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
