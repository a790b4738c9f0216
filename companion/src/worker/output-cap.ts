// Keeping one stream of a child under its cap on disk (allocated blocks) while the child writes straight into the file: the head and
// the newest bytes stay, the middle is given back, and a line in its place says how many bytes are missing.
import type { OutputNote } from '../core/job.ts';
import { overwrite } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';
import { freeRange } from '../platform/punch.ts';

const page = 4096;

export class OutputCap {
  private readonly file: string;
  private readonly head: number;
  private readonly tail: number;
  private readonly trigger: number;
  private removed = 0;
  private exact = true;
  private busy: Promise<void> | undefined;
  private isAskedAgain = false;

  /** Head a quarter of the cap, kept tail five sixteenths; trimming begins an eighth before the cap, because the child does not wait. */
  constructor(file: string, capBytes: number) {
    this.file = file;
    this.head = align(capBytes / 4);
    this.tail = align((capBytes * 5) / 16);
    this.trigger = align((capBytes * 7) / 8);
  }

  /** Trim when it is time. Never two at once; returns true when something was begun. */
  check(): boolean {
    if (this.busy) {
      this.isAskedAgain = true;
      return true;
    }
    const facts = factsOf(this.file);
    if (!facts || facts.allocated < this.trigger) return false;
    this.isAskedAgain = false;
    // A trim that fails (the folder vanished) is no reason to give up the job.
    const trimmed = this.trim(facts.size).catch(() => undefined);
    this.busy = trimmed.finally(() => {
      this.busy = undefined;
      // What came while we trimmed may have been the last: nobody would ask again.
      if (this.isAskedAgain) this.check();
    });
    return true;
  }

  /** The last look: trims what the child wrote in its last moments. */
  async finish(): Promise<OutputNote> {
    while (this.busy) await this.busy;
    this.check();
    while (this.busy) await this.busy;
    return this.note();
  }

  note(): OutputNote {
    const size = factsOf(this.file)?.size ?? 0;
    return { bytes: this.exact ? size : size + this.removed, omitted: this.removed, exact: this.exact };
  }

  private async trim(size: number): Promise<void> {
    // The first page of the hole holds the note; the bytes that it covers count as missing.
    const to = align(size - this.tail);
    const from = this.head + page;
    if (to <= from) return;
    const result = await freeRange(this.file, from, to);
    if (result.how === 'failed') return;
    if (result.how === 'punched') this.removed = to - this.head;
    else {
      this.exact = false;
      this.removed += result.to - from + (this.removed === 0 ? page : 0);
    }
    const about = this.exact ? '' : 'about ';
    overwrite(
      this.file,
      this.head,
      `\n[job-companion: ${about}${this.removed} bytes are left out here]\n`.padEnd(page - 1, ' ').concat('\n'),
    );
  }
}

function align(bytes: number): number {
  return Math.floor(bytes / page) * page;
}
