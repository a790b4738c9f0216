// The tree of an agent, told apart: the agent itself with the processes that began with it (the binary behind a wrapper, servers of its tools),
// and what it started for its task. Those live as long as the agent does and say nothing about what it waits for.

import type { Identity } from '../core/job.ts';
import { standingStartMs } from '../core/limits.ts';
import { isDeadState } from '../platform/identity.ts';
import type { Tree } from '../platform/process-members.ts';
import { hasCpu, type ProcessRow, tickMs } from '../platform/process-table.ts';
import { cpuOf, ownRows, type TreeUsage } from '../platform/tree-usage.ts';

/** Of the agent itself since the last one. */
export interface AgentUse {
  ownCpuMs: number | null;
  standing: number;
  isStopped: boolean;
}

export class AgentTree {
  private readonly tree: Tree;
  private readonly child: Identity | null;
  /** CPU of each process of the agent itself, as last seen; null before the first look. */
  private counted: Map<string, number> | null = null;
  private ownCpuMs = 0;
  private standing = 0;
  private isStopped = false;
  private living: number[] = [];

  constructor(tree: Tree, child: Identity | null) {
    this.tree = tree;
    this.child = child;
  }

  /** Descendants are those that the agent started for its task. */
  look(): TreeUsage {
    const rows = ownRows(this.tree);
    const living = rows.filter((row) => !isDeadState(row.state));
    const own = living.filter((row) => this.isOwn(row));
    this.count(own);
    const isChild = ({ pid }: ProcessRow): boolean => pid === this.child?.pid;
    this.standing = own.filter((row) => !isChild(row)).length;
    this.isStopped = own.some((row) => isChild(row) && /^[Tt]/.test(row.state));
    this.living = living.map(({ pid }) => pid);
    return { cpu: cpuOf(rows), descendants: living.length - own.length };
  }

  take(): AgentUse {
    const { ownCpuMs, standing, isStopped } = this;
    this.ownCpuMs = 0;
    return { ownCpuMs: hasCpu ? ownCpuMs : null, standing, isStopped };
  }

  /** Everything of it that lived at the last look. */
  pids(): readonly number[] {
    return this.living;
  }

  private isOwn({ pid, start }: ProcessRow): boolean {
    if (!this.child) return false;
    if (pid === this.child.pid) return true;
    return (Number(start) - Number(this.child.start_token)) * tickMs <= standingStartMs;
  }

  private count(own: readonly ProcessRow[]): void {
    const { counted } = this;
    const now = new Map(own.map((row) => [`${row.pid} ${row.start}`, row.cpu * tickMs]));
    if (counted) for (const [who, cpuMs] of now) this.ownCpuMs += Math.max(0, cpuMs - (counted.get(who) ?? 0));
    this.counted = now;
  }
}
