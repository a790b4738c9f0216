// Reading settings of a host that are to be changed: what may be changed, and why not. An own file, or one that a link of the user's own leads to
// (programs that look after such files put links there); where a repository may have brought the link along, none.
import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { errnoOf } from '../core/errors.ts';
import { readRange } from './files.ts';
import { factsOf, realPath } from './folders.ts';

export interface ToEdit {
  /** As far as it could be read, also when it may not be changed; null: there is none. */
  text: string | null;
  /** Why it cannot be changed, and what is allowed. */
  fault: string | null;
  /** What would really be changed, when a link leads there. */
  linkTo: string | null;
  /** There is something, and it cannot be told what. */
  isHidden: boolean;
}

/** `followsLink`: else neither the file nor its folder may be one. */
export function readToEdit(file: string, followsLink: boolean, limit: number): ToEdit {
  const result: ToEdit = { text: null, fault: null, linkTo: null, isHidden: false };
  try {
    return read(result, file, followsLink, limit);
  } catch (error) {
    const code = errnoOf(error) ?? 'error';
    if (code === 'ENOENT') return { ...result, fault: 'it is a link that leads to nothing; allowed is a regular file' };
    return { ...result, fault: `it cannot be read (${code})`, isHidden: true };
  }
}

function read(result: ToEdit, file: string, followsLink: boolean, limit: number): ToEdit {
  const folder = path.dirname(file);
  const folderFacts = factsOf(folder);
  if (folderFacts && folderFacts.kind !== 'folder' && !followsLink)
    result.fault = `${folder} is no folder of its own; allowed is one that is no link, for a repository can bring a link along`;
  const facts = factsOf(file);
  if (!facts) return result;
  const target = facts.kind === 'link' ? realPath(file) : file;
  if (facts.kind === 'link') {
    result.linkTo = target;
    if (!followsLink)
      result.fault ??= 'it is a link; allowed is a regular file, for a repository can bring a link along';
  }
  const behind = factsOf(target);
  const found = behind?.kind === 'file' ? readRange(target, 0, limit) : undefined;
  if (!found) return { ...result, fault: result.fault ?? 'it is no regular file' };
  if (behind?.uid !== process.getuid?.()) result.fault ??= 'it is not yours; allowed is a file of your own';
  if (found.size > limit)
    return { ...result, fault: `it is too large (${found.size} bytes); allowed are ${limit}`, isHidden: true };
  if (!isUtf8(found.bytes)) result.fault ??= 'it is no UTF-8; allowed is JSON in UTF-8';
  return { ...result, text: found.bytes.toString('utf8') };
}
