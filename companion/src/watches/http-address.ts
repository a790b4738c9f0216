// The address of an http watch: what is taken at launch, and what of it is shown. A query may hold a key, so nobody is shown it; the
// whole address stands in spec.json only, as the arguments of every job do.
import { usageError } from '../core/errors.ts';
import { excerpt, plainText } from '../core/excerpt.ts';

const longest = 8192;
const shownBytes = 90;

export function parseAddress(text: string): URL {
  const refuse = (cause: string): never => {
    throw usageError(`cannot watch this address: ${cause}; allowed: http://HOST[:PORT]/PATH or https://...`);
  };
  if (!/^https?:\/\//i.test(text))
    refuse(`${JSON.stringify(excerpt(text, shownBytes))} does not begin with http:// or https://`);
  if (text.length > longest) refuse(`it is longer than ${longest} characters`);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return refuse('host or port cannot be read');
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError(
      'cannot watch an address with a name or password in it: it would stand in the record; put the whole header into a variable and give --header-env Authorization=VARIABLE',
    );
  }
  url.hash = '';
  return url;
}

/** Without its query, bounded. */
export function shownAddress(address: string | URL): string {
  const url = new URL(address);
  return `${excerpt(plainText(`${url.origin}${url.pathname}`), shownBytes)}${url.search ? '?...' : ''}`;
}
