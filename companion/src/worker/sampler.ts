// Samples of a running command: CPU and descendants of its tree, sizes of its two output files, facts of exactly the paths that the caller
// named. Nothing else is looked at, nothing is read, no folder is entered. `take` closes an interval and says what happened in it.
import type { Activity } from '../core/activity.ts';
import { type CpuBooks, cpuSince, emptyBooks } from '../core/cpu-use.ts';
import type { FileFacts } from '../platform/file-facts.ts';
import type { TreeUsage } from '../platform/tree-usage.ts';

/** Clock and timers, so that a day can pass in a test. */
export interface Clock {
  monotonicMs(): number;
  /** Calls `fn` at that instant; the answer takes it back. */
  at(monotonicMs: number, fn: () => void): () => void;
  iso(): string;
}

/** What the machine says now. */
export interface Look {
  usage: TreeUsage;
  stdout: number;
  stderr: number;
  /** By path; what is not known is absent. */
  results: ReadonlyMap<string, FileFacts | null>;
  log: FileFacts | null | undefined;
}

export interface SamplerOptions {
  clock: Clock;
  everyMs: number;
  look: () => Promise<Look>;
  /** From when on the first interval counts. */
  fromMs: number;
  /** What there was then; null: the first look is the beginning, and nothing before it counts. */
  baseline: Baseline | null;
  /** Each sample: what happened since the one before. */
  onSample?: (activity: Activity, atMs: number) => void;
  onError: (error: unknown) => void;
}

export interface Baseline {
  results: ReadonlyMap<string, FileFacts | null>;
}

export class Sampler {
  private readonly options: SamplerOptions;
  private books: CpuBooks | null;
  private sizes: { stdout: number; stderr: number } | null;
  private readonly results: Map<string, FileFacts | null>;
  private log: FileFacts | null | undefined;
  private lastMs: number;
  private sum: Activity = nothing;
  private pending: Promise<void> | undefined;
  private disarm: () => void = () => undefined;
  private isStopped = false;

  constructor(options: SamplerOptions) {
    this.options = options;
    const { baseline } = options;
    this.books = baseline ? emptyBooks : null;
    this.sizes = baseline ? { stdout: 0, stderr: 0 } : null;
    this.results = new Map(baseline?.results ?? []);
    this.lastMs = options.fromMs;
    if (baseline) this.arm();
    else void this.sample().finally(() => this.arm());
  }

  /** Everything since the last call, up to now. */
  async take(): Promise<Activity> {
    // One that is under way began before this moment.
    await this.pending;
    await this.sample();
    this.arm();
    const { sum } = this;
    this.sum = nothing;
    return sum;
  }

  stop(): void {
    this.isStopped = true;
    this.disarm();
  }

  private arm(): void {
    // One timer only, whoever asks for the next.
    this.disarm();
    if (this.isStopped) return;
    const { clock, everyMs } = this.options;
    this.disarm = clock.at(clock.monotonicMs() + everyMs, () => {
      void this.sample().finally(() => this.arm());
    });
  }

  private sample(): Promise<void> {
    this.pending ??= this.lookOnce()
      .catch(this.options.onError)
      .finally(() => {
        this.pending = undefined;
      });
    return this.pending;
  }

  private async lookOnce(): Promise<void> {
    const look = await this.options.look();
    if (this.isStopped) return;
    const now = this.options.clock.monotonicMs();
    const activity: Activity = {
      spanMs: Math.max(0, now - this.lastMs),
      ...this.cpuOf(look),
      ...this.outputOf(look),
      hasLog: look.log !== undefined && this.log !== undefined && isOther(this.log, look.log),
      descendants: look.usage.descendants,
      changed: this.changedOf(look),
    };
    if (look.log !== undefined) this.log = look.log;
    this.lastMs = now;
    this.sum = add(this.sum, activity);
    this.options.onSample?.(activity, now);
  }

  private cpuOf({ usage }: Look): { cpuMs: number | null } {
    if (usage.cpu === null) return { cpuMs: null };
    const isFirst = this.books === null;
    const { usedMs, books } = cpuSince(this.books ?? emptyBooks, usage.cpu);
    this.books = books;
    return { cpuMs: isFirst ? 0 : usedMs };
  }

  /** A file that was cut for its cap has another size as well. */
  private outputOf({ stdout, stderr }: Look): { hasOutput: boolean; outputBytes: number } {
    const before = this.sizes ?? { stdout, stderr };
    this.sizes = { stdout, stderr };
    return {
      hasOutput: stdout !== before.stdout || stderr !== before.stderr,
      outputBytes: Math.max(0, stdout - before.stdout) + Math.max(0, stderr - before.stderr),
    };
  }

  private changedOf({ results }: Look): string[] {
    const changed: string[] = [];
    for (const [path, facts] of results) {
      const before = this.results.get(path);
      this.results.set(path, facts);
      if (before !== undefined && isOther(before, facts)) changed.push(path);
    }
    return changed;
  }
}

const nothing: Activity = {
  spanMs: 0,
  cpuMs: 0,
  hasOutput: false,
  outputBytes: 0,
  hasLog: false,
  descendants: 0,
  changed: [],
};

function add(one: Activity, two: Activity): Activity {
  return {
    spanMs: one.spanMs + two.spanMs,
    cpuMs: one.cpuMs === null || two.cpuMs === null ? null : one.cpuMs + two.cpuMs,
    hasOutput: one.hasOutput || two.hasOutput,
    outputBytes: one.outputBytes + two.outputBytes,
    hasLog: one.hasLog || two.hasLog,
    descendants: Math.max(one.descendants, two.descendants),
    changed: [...new Set([...one.changed, ...two.changed])],
  };
}

function isOther(before: FileFacts | null, now: FileFacts | null): boolean {
  if (before === null || now === null) return before !== now;
  return before.size !== now.size || before.modified_ms !== now.modified_ms || before.inode !== now.inode;
}
