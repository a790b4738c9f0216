// Who holds the lock of a queue and does not give it back. A holder needs milliseconds; one that has been there for several tries is
// told, and passed: a turn that it writes after that does not count (turn.ts), so never more are at work than may be.
import type { Identity } from '../core/job.ts';
import { leaseMs, leaseStaleMs } from '../core/limits.ts';
import { monotonicMs } from '../platform/clock.ts';
import { isStopped, sameIdentity } from '../platform/identity.ts';

export class Holdup {
  private holder: Identity | undefined;
  private since = 0;
  private tries = 0;

  forget(): void {
    this.holder = undefined;
  }

  /** After a try in vain; from the second on: why. */
  note(holder: Identity | undefined): string | undefined {
    if (!holder) return this.forget() as undefined;
    if (!this.isSame(holder)) {
      this.holder = holder;
      this.since = monotonicMs() - leaseMs;
      this.tries = 0;
    }
    this.tries += 1;
    if (this.tries < 2) return undefined;
    const what = isStopped(holder)
      ? 'which is stopped; it goes on after: kill -CONT'
      : 'which does not give it back; look at process';
    return `the lock of the queue is held by process ${holder.pid}, ${what} ${holder.pid}`;
  }

  /** Told before, and still there. */
  mayPass(holder: Identity): boolean {
    if (!this.isSame(holder) || this.tries < 2) return false;
    return isStopped(holder) || monotonicMs() - this.since > leaseStaleMs;
  }

  private isSame(holder: Identity): boolean {
    return this.holder !== undefined && sameIdentity(this.holder, holder);
  }
}
