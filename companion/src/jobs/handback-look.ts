// One job's look into its hand-back folder, again and again: what is new since it was last told. A file counts when there is something in it and
// it stood still for two looks, so that a half-written one is told when it is whole and one that was renamed into place is told once; the
// same name is told again with another content, or when another file has it. What was told stands in the journal: whoever looks next goes
// on from there.
import { completeName, isFrozen, isHandback } from '../core/handback.ts';
import type { HandbackMark, HandbackNote, HandbackPart } from '../core/idle.ts';
import { handbackFiles, handbackMost } from '../core/limits.ts';
import { handbackTellings } from '../core/limits-handback.ts';
import { lookIntoFolder, type SeenFile } from '../platform/folder-look.ts';
import { JournalScan } from '../store/journal-scan.ts';
import type { JobPaths } from '../store/layout.ts';
import { contentOf, isSame, isUntouched, markFrom, markOf, marksFrom } from './handback-mark.ts';

/** The fields of its event. */
export interface HandbackNews {
  name: string;
  path: string;
  bytes: number;
  /** Of its content; a file that is too large to be read whole has that of its size and both ends. */
  sha256: string | null;
  ends?: string;
  /** By which another file of the same content is known. */
  stamp: string;
  /** It was told before, or lay there before the job: with another content, or it was another file. */
  changed: boolean;
}

export interface HandbackSeen {
  news: HandbackNews[];
  /** Why the folder cannot be looked into. */
  trouble: string | null;
}

/** What there may be no more of: different names, or tellings in all. */
export type HandbackBound = 'names' | 'tellings';

export class HandbackLook {
  /** There was one more than may be told. */
  readonly bounds = new Set<HandbackBound>();
  /** Of these the journal says so. */
  readonly saidBounds = new Set<unknown>();
  /** Every file of the last look was read as it stands. */
  isSettled = false;
  private readonly dir: string;
  /** Of each name what was there at launch or was told last. */
  private readonly known: Map<string, HandbackMark>;
  /** Known names that were seen to be gone since: whatever has the name next is new. */
  private readonly gone = new Set<string>();
  /** As each file stood at the look before; and as it stood when its content was read. */
  private before = new Map<string, string>();
  private readonly read = new Map<string, string>();
  /** Each name once, in the order of its last telling. */
  private readonly told = new Set<string>();
  private tellings = 0;
  private isFrozen = false;

  constructor({ dir, baseline }: HandbackPart, paths: JobPaths) {
    this.dir = dir;
    this.known = marksFrom(baseline);
    new JournalScan(paths.events).read((event) => {
      const { type, name } = event;
      if (type === 'handback_many') this.saidBounds.add(event.bound);
      if (type !== 'handback' || typeof name !== 'string' || !isHandback(name)) return;
      const mark = markFrom(event.sha256 ?? event.ends ?? event.stamp, event.stamp);
      if (mark) this.note(name, mark);
    });
  }

  get standing(): HandbackNote {
    const names = [...this.told].reverse();
    const newest = names.find((name) => this.before.has(name)) ?? names[0] ?? null;
    return { dir: this.dir, told: this.told.size, newest, frozen: this.isFrozen };
  }

  /** `isLast`: nobody writes any more, so what is there is whole. */
  async look(isLast: boolean): Promise<HandbackSeen> {
    const seen = await lookIntoFolder(this.dir, isWanted, handbackMost);
    this.isSettled = false;
    if ('trouble' in seen) return { news: [], trouble: seen.trouble };
    const before = this.before;
    this.before = new Map(seen.files.map(({ name, stamp }) => [name, stamp]));
    this.noteGone();
    const news: HandbackNews[] = [];
    for (const file of seen.files) {
      const isStill = isLast || before.get(file.name) === file.stamp;
      if (file.size === 0 || !isStill || this.read.get(file.name) === file.stamp) continue;
      const one = await this.take(file);
      if (one) news.push(one);
    }
    this.isSettled = seen.files.every(({ name, stamp }) => this.read.get(name) === stamp);
    return { news, trouble: null };
  }

  private noteGone(): void {
    if (!this.before.has(completeName)) this.isFrozen = false;
    for (const name of this.known.keys()) {
      if (this.before.has(name)) continue;
      this.gone.add(name);
      this.read.delete(name);
    }
  }

  private async take(file: SeenFile): Promise<HandbackNews | undefined> {
    const { name, size, stamp } = file;
    const path = `${this.dir}/${name}`;
    const content = await contentOf(path, file);
    // It has just changed: the next look.
    if (!content) return undefined;
    this.read.set(name, stamp);
    const earlier = this.known.get(name);
    if (name === completeName) {
      // One that another job left is not the word of this one.
      const isOld = earlier !== undefined && !this.gone.has(name) && isUntouched(earlier, file);
      this.isFrozen = !isOld && isFrozen(content.text);
      return undefined;
    }
    if (earlier && !this.gone.has(name) && isSame(earlier, file, content)) return undefined;
    const bound = this.boundOf(name);
    if (bound) {
      this.bounds.add(bound);
      return undefined;
    }
    this.note(name, markOf(file, content));
    const { sha256, ends } = content;
    const changed = earlier !== undefined;
    return { name, path, bytes: size, sha256, ...(ends === null ? {} : { ends }), stamp, changed };
  }

  private boundOf(name: string): HandbackBound | undefined {
    if (this.tellings >= handbackTellings) return 'tellings';
    return this.told.size >= handbackFiles && !this.told.has(name) ? 'names' : undefined;
  }

  private note(name: string, mark: HandbackMark): void {
    this.known.set(name, mark);
    this.gone.delete(name);
    this.told.delete(name);
    this.told.add(name);
    this.tellings += 1;
  }
}

/** Files that are there already, as they are; or why they cannot be looked at. */
export async function baselineOf(dir: string): Promise<{ baseline: HandbackPart['baseline'] } | { trouble: string }> {
  const seen = await lookIntoFolder(dir, isWanted, handbackMost);
  if ('trouble' in seen) return seen;
  const baseline: HandbackPart['baseline'] = {};
  for (const file of seen.files)
    if (file.size > 0) baseline[file.name] = markOf(file, await contentOf(`${dir}/${file.name}`, file));
  return { baseline };
}

function isWanted(name: string): boolean {
  return isHandback(name) || name === completeName;
}
