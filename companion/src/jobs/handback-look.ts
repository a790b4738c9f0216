// One job's look into its hand-back folder, again and again: what is new since it was last told. A file counts when there is something in it and
// it stood still for two looks, so that a half-written one is told when it is whole and one that was renamed into place is told once; the
// same name is told again only with another content. What was told stands in the journal: whoever looks next goes on from there.
import { completeName, isFrozen, isHandback } from '../core/handback.ts';
import type { HandbackNote, HandbackPart } from '../core/job.ts';
import { handbackFiles, handbackMost } from '../core/limits.ts';
import { lookIntoFolder, readUnchanged, type SeenFile } from '../platform/folder-look.ts';
import { JournalScan } from '../store/journal-scan.ts';
import type { JobPaths } from '../store/layout.ts';

/** The fields of its event. */
export interface HandbackNews {
  name: string;
  path: string;
  bytes: number;
  /** Of its content; a file that is too large to be read has a stamp instead. */
  sha256: string | null;
  stamp?: string;
  /** It was told before, or lay there before the job, with another content. */
  changed: boolean;
}

export interface HandbackSeen {
  news: HandbackNews[];
  /** Why the folder cannot be looked into. */
  trouble: string | null;
}

export class HandbackLook {
  /** There was one more than may be told. */
  isFull = false;
  /** Every file of the last look was read as it stands. */
  isSettled = false;
  private readonly dir: string;
  /** Of each name what was there at launch or was told last. */
  private readonly known: Map<string, string>;
  /** As each file stood at the look before; and as it stood when its content was read. */
  private before = new Map<string, string>();
  private readonly read = new Map<string, string>();
  private told = 0;
  private newest: string | null = null;
  private isFrozen = false;

  constructor({ dir, baseline }: HandbackPart, paths: JobPaths) {
    this.dir = dir;
    this.known = new Map(Object.entries(baseline));
    new JournalScan(paths.events).read((event) => {
      const { type, name } = event;
      const key = event.sha256 ?? event.stamp;
      if (type === 'handback' && typeof name === 'string' && isHandback(name) && typeof key === 'string')
        this.note(name, key);
    });
  }

  get standing(): HandbackNote {
    return { dir: this.dir, told: this.told, newest: this.newest, frozen: this.isFrozen };
  }

  /** `isLast`: nobody writes any more, so what is there is whole. */
  async look(isLast: boolean): Promise<HandbackSeen> {
    const wanted = (name: string): boolean => isHandback(name) || name === completeName;
    const seen = await lookIntoFolder(this.dir, wanted, handbackMost);
    this.isSettled = false;
    if ('trouble' in seen) return { news: [], trouble: seen.trouble };
    const before = this.before;
    this.before = new Map(seen.files.map(({ name, stamp }) => [name, stamp]));
    const news: HandbackNews[] = [];
    if (!seen.files.some(({ name }) => name === completeName)) this.isFrozen = false;
    for (const file of seen.files) {
      const isStill = isLast || before.get(file.name) === file.stamp;
      if (file.size === 0 || !isStill || this.read.get(file.name) === file.stamp) continue;
      const one = await this.take(file);
      if (one) news.push(one);
    }
    this.isSettled = seen.files.every(({ name, stamp }) => this.read.get(name) === stamp);
    return { news, trouble: null };
  }

  private async take(file: SeenFile): Promise<HandbackNews | undefined> {
    const { name, size, stamp } = file;
    const path = `${this.dir}/${name}`;
    const isOrdered = name !== completeName;
    const content = size <= handbackMost.bytes ? await contentOf(path, file) : { text: '', sha256: null };
    // It has just changed: the next look.
    if (!content) return undefined;
    this.read.set(name, stamp);
    if (!isOrdered) {
      // One that another job left is not the word of this one.
      this.isFrozen = isFrozen(content.text) && this.known.get(name) !== stamp;
      return undefined;
    }
    const { sha256 } = content;
    const earlier = this.known.get(name);
    if (earlier === (sha256 ?? stamp)) return undefined;
    if (this.told >= handbackFiles) {
      this.isFull = true;
      return undefined;
    }
    this.note(name, sha256 ?? stamp);
    return { name, path, bytes: size, sha256, ...(sha256 === null ? { stamp } : {}), changed: earlier !== undefined };
  }

  private note(name: string, key: string): void {
    this.known.set(name, key);
    this.told += 1;
    this.newest = name;
  }
}

/**
 * Ordered files that are there already, by their content, and the closing one by its stamp: written again it counts, whatever it says. Or why
 * they cannot be looked at.
 */
export async function baselineOf(dir: string): Promise<{ baseline: Record<string, string> } | { trouble: string }> {
  const seen = await lookIntoFolder(dir, (name) => isHandback(name) || name === completeName, handbackMost);
  if ('trouble' in seen) return seen;
  const baseline: Record<string, string> = {};
  for (const file of seen.files) {
    if (file.size === 0) continue;
    if (file.name === completeName) {
      baseline[file.name] = file.stamp;
      continue;
    }
    const content = file.size <= handbackMost.bytes ? await contentOf(`${dir}/${file.name}`, file) : undefined;
    baseline[file.name] = content?.sha256 ?? file.stamp;
  }
  return { baseline };
}

async function contentOf(path: string, file: SeenFile): Promise<{ text: string; sha256: string } | undefined> {
  const bytes = await readUnchanged(path, file);
  if (!bytes) return undefined;
  const { createHash } = await import('node:crypto');
  return { text: bytes.toString('utf8'), sha256: createHash('sha256').update(bytes).digest('hex') };
}
