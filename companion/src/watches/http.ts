// An address: what it answers. Connection, redirects and limits are platform/http.ts; what an answer means is http-verdict.ts.
import { httpBodyBytes, httpDigestBytes } from '../core/limits.ts';
import { askHttp } from '../platform/http.ts';
import type { HttpFailure } from '../platform/http-failure.ts';
import { shownAddress } from './http-address.ts';
import { headersOf } from './http-headers.ts';
import { isNamed, judgeAnswer, wantsOf } from './http-verdict.ts';
import { type HttpInput, httpOptions, parseHttp } from './http-words.ts';
import { requireBaseline, timeOf } from './remote.ts';
import type { Fault, Look, Trouble, Watch } from './watch.ts';

export const http = {
  id: 'http',
  summary: 'an http or https address: its status, its text, its digest, or a change',
  form: 'URL',
  words: { min: 1, max: 1 },
  options: httpOptions,
  examples: [
    'watch http https://example.org/health --for 30m',
    'watch http https://example.org/v2 --field state=ready --for 1h',
    'watch http https://example.org/app.tgz --sha256 HEX --for 6h',
  ],
  isRemote: true,

  read(given, place) {
    if (given.has('changed')) requireBaseline(place);
    return parseHttp(given);
  },

  async look(plain, tools, cursor): Promise<Look | Trouble | Fault> {
    const input = plain as HttpInput;
    const headers = headersOf(input.headers);
    if (typeof headers === 'string') return { kind: 'fault', cause: 'auth', message: headers };
    const answer = await askHttp({
      url: input.url,
      headers,
      timeoutMs: timeOf(tools),
      signal: tools.signal,
      isFinal: (status) => isNamed(input, status),
      plan: (head) => {
        const wants = wantsOf(input, head, cursor);
        return { keep: wants.text ? httpBodyBytes : 0, digest: wants.digest ? httpDigestBytes : 0 };
      },
    });
    if (answer.how === 'failed') return troubleOf(input, answer);
    return judgeAnswer(input, answer, { cursor, nowMs: tools.nowMs() });
  },
} as const satisfies Watch;

const causes = {
  timeout: 'timeout',
  aborted: 'failed',
  network: 'network',
  // A host that is being set up has no good certificate yet, or still its old one: that heals.
  certificate: 'network',
  redirect: 'server',
  shape: 'shape',
} as const satisfies Record<HttpFailure['cause'], Trouble['cause']>;

function troubleOf(input: HttpInput, failure: HttpFailure): Trouble {
  const message = `GET ${shownAddress(input.url)}: ${failure.message}`;
  return { kind: 'trouble', cause: causes[failure.cause], message, retryAfterMs: null };
}
