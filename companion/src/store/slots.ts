// Timer slots: `slots/<name>` says which timer was armed there last. What counts is each timer's own record (jobs/timers.ts): a launcher
// that died before it could write here leaves a slot that the next one puts right.
import path from 'node:path';
import { FaultError, usageError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { readText, writeFile } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import { rootPaths } from './layout.ts';

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function requireSlotName(name: string): string {
  if (nameForm.test(name)) return name;
  const allowed = 'allowed are 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit';
  throw usageError(`cannot take --slot ${JSON.stringify(name)}: ${allowed}`);
}

/** The id that stands there; undefined when there is none that could be one. Throws for what is no file of ours. */
export function readSlot(root: string, slot: string): string | undefined {
  const file = fileOf(root, slot);
  const facts = factsOf(file);
  if (!facts) return undefined;
  if (facts.kind !== 'file' || facts.uid !== process.getuid?.())
    throw new FaultError('state_unusable', `cannot use the slot ${slot}: ${file} is no file of ours`, 'remove it');
  const id = readText(file, 100)?.trim() ?? '';
  return isId(id) ? id : undefined;
}

export function writeSlot(root: string, slot: string, id: string): void {
  writeFile(fileOf(root, slot), `${id}\n`);
}

function fileOf(root: string, slot: string): string {
  return path.join(rootPaths(root).slots, slot);
}
