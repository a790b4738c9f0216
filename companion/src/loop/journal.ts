// journal.md: append-only, one entry for each iteration with four parts (S3.11). Whole entries are appended; nothing that stands there is
// ever changed, so a committed journal is a byte prefix of the one in the worktree (E6).
import { oneLine } from '../core/byte-names.ts';
import { appendText, readText } from '../platform/files.ts';

export interface EntryParts {
  did: readonly string[];
  verified: readonly string[];
  deficiencies: readonly string[];
  next: readonly string[];
}

export const entryHeads = ['Did', 'Verified', 'Deficiencies', 'Next'] as const;

export interface Entry {
  iteration: number;
  at: string;
  /** With its heading, without the empty line after it. */
  text: string;
  /** A remediation, a stop, a pause: no iteration of its own. */
  note: string | null;
  /** Which of the four parts it has. */
  parts: string[];
}

const heading = /^## Iteration (\d{1,9}) -- (\d{4}-\d\d-\d\d[0-9T:.Z+-]*)(?: \(([^)\n]{1,60})\))?$/;
const journalBytes = 16 * 1024 * 1024;

export function journalHead(goal: string): string {
  return `# Journal\n\nGoal: ${oneLine(goal)}\n`;
}

/** `note` marks what is no iteration of its own: a remediation, a stop. */
export function entryText(iteration: number, at: string, parts: EntryParts, note?: string): string {
  const lists = [parts.did, parts.verified, parts.deficiencies, parts.next];
  const sections = entryHeads.map((head, index) => `### ${head}\n\n${listText(lists[index] ?? [])}`);
  return `\n## Iteration ${iteration} -- ${at}${note === undefined ? '' : ` (${note})`}\n\n${sections.join('\n')}`;
}

/** The note of what was mended after the Nth NO-GO of an iteration. */
export function remediationNote(rounds: number): string {
  return `remediation ${rounds}`;
}

function listText(lines: readonly string[]): string {
  return (lines.length === 0 ? ['none'] : lines).map((line) => `- ${oneLine(line)}\n`).join('');
}

export function appendEntry(file: string, text: string): void {
  const old = readText(file, journalBytes) ?? '';
  appendText(file, `${old === '' || old.endsWith('\n') ? '' : '\n'}${text}`);
}

export function readJournal(file: string): string | undefined {
  return readText(file, journalBytes);
}

export function parseEntries(text: string): Entry[] {
  const entries: Entry[] = [];
  let lines: string[] = [];
  let open: Pick<Entry, 'iteration' | 'at' | 'note'> | undefined;
  const close = () => {
    if (!open) return;
    const parts = lines.flatMap((line) => /^### (\w+)$/.exec(line)?.[1] ?? []);
    entries.push({ ...open, text: lines.join('\n').trimEnd(), parts });
  };
  for (const line of text.split('\n')) {
    const found = heading.exec(line);
    if (found) {
      close();
      open = { iteration: Number(found[1]), at: found[2] as string, note: found[3] ?? null };
      lines = [];
    }
    if (open) lines.push(line);
  }
  close();
  return entries;
}

/** The newest entries, oldest first. */
export function lastEntries(text: string, count: number): Entry[] {
  return parseEntries(text).slice(-count);
}

/** Is the entry of an iteration there, with its four parts? */
export function hasEntry(text: string, iteration: number): boolean {
  return parseEntries(text).some(
    (entry) =>
      entry.iteration === iteration && entry.note === null && entryHeads.every((head) => entry.parts.includes(head)),
  );
}
