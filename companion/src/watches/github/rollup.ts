// All checks and all workflow runs of one commit, to one reading. The checks alone are not enough: a workflow that waits for approval has none,
// and the next jobs of a running one are not there yet. Of the runs of one workflow for one event only the newest counts, with its jobs.
import { sha256, toHex } from '../../core/sha256.ts';
import { type Check, type Run, runIdOf } from './check.ts';
import { type CheckClass, classOf } from './check-words.ts';

/** `none`: nothing ran, which is not `passing`. */
export type RollupWord = 'none' | 'running' | 'failing' | 'passing';

export interface Item {
  name: string;
  link: string;
  /** What makes it another one when it is run again. */
  mark: string;
}

export interface Rollup {
  word: RollupWord;
  counts: Record<CheckClass, number>;
  failing: Item[];
  /** Workflows and jobs that wait for a person. */
  gating: string[];
  /** Of what fails: 12 hex digits, or empty. */
  signature: string;
  /** When the newest of all this began; null: nobody said. */
  newestAt: number | null;
}

export function judgeRollup(checks: readonly Check[], runs: readonly Run[]): Rollup {
  const newest = newestRuns(runs);
  const counted = countedChecks(checks, runs, newest);
  const counts: Rollup['counts'] = { passed: 0, skipped: 0, failed: 0, gated: 0, running: 0 };
  const failing: Item[] = [];
  const gating: string[] = [];
  const count = (kind: CheckClass, item: Item): void => {
    counts[kind] += 1;
    if (kind === 'failed') failing.push(item);
    if (kind === 'gated' && !gating.includes(item.name)) gating.push(item.name);
  };
  for (const check of counted) count(classOf(check.state), { ...nameOf(check), mark: check.link || check.name });
  for (const run of newest) {
    const kind = classOf(run.state);
    const jobs = counted.filter((check) => runIdOf(check) === run.id).map(({ state }) => classOf(state));
    if (isToldByJobs(kind, jobs)) continue;
    count(kind, { name: run.workflow, link: run.link, mark: `${run.link || run.id} ${run.startedAt ?? ''}` });
  }
  const times = [...counted.map(({ startedAt }) => startedAt), ...newest.map(({ createdAt }) => createdAt)];
  const newestAt = Math.max(0, ...times.map((at) => at ?? 0)) || null;
  return { word: wordOf(counts), counts, failing, gating, signature: signatureOf(failing), newestAt };
}

/** By creation, then by number. */
export function newestRuns(runs: readonly Run[]): Run[] {
  const newest = new Map<string, Run>();
  for (const run of runs) {
    const key = JSON.stringify([run.workflow, run.event]);
    const known = newest.get(key);
    if (!known || isNewer(run, known)) newest.set(key, run);
  }
  return [...newest.values()];
}

function isNewer(a: Run, b: Run): boolean {
  const difference = (a.createdAt ?? 0) - (b.createdAt ?? 0);
  return difference === 0 ? a.id > b.id : difference > 0;
}

/** Without the jobs of runs that a newer one replaced, and without older reports of other apps under the same name. */
function countedChecks(checks: readonly Check[], runs: readonly Run[], newest: readonly Run[]): Check[] {
  const replaced = new Set(runs.filter((run) => !newest.includes(run)).map(({ id }) => id));
  const others = new Map<string, Check>();
  const jobs: Check[] = [];
  for (const check of checks) {
    const id = runIdOf(check);
    if (id !== undefined) {
      if (!replaced.has(id)) jobs.push(check);
      continue;
    }
    const key = JSON.stringify([check.workflow, check.name]);
    const known = others.get(key);
    if (!known || (check.startedAt ?? 0) >= (known.startedAt ?? 0)) others.set(key, check);
  }
  return [...jobs, ...others.values()];
}

/** Does a job say already what the run as a whole says? */
function isToldByJobs(kind: CheckClass, jobs: readonly CheckClass[]): boolean {
  if (kind === 'passed' || kind === 'skipped') return jobs.length > 0;
  if (kind === 'running') return jobs.includes('running') || jobs.includes('gated');
  return jobs.includes(kind);
}

function wordOf({ passed, failed, gated, running }: Rollup['counts']): RollupWord {
  if (failed > 0) return 'failing';
  if (running + gated > 0) return 'running';
  return passed > 0 ? 'passing' : 'none';
}

function nameOf({ name, workflow, link }: Check): { name: string; link: string } {
  return { name: workflow === '' || workflow === name ? name : `${workflow} / ${name}`, link };
}

function signatureOf(failing: readonly Item[]): string {
  if (failing.length === 0) return '';
  const marks = failing.map(({ mark }) => mark).sort();
  return toHex(sha256(new TextEncoder().encode(marks.join('\n')))).slice(0, 12);
}
