// All checks and all workflow runs of one commit, to one reading. The checks alone are not enough: a workflow that waits for approval has none,
// and the next jobs of a running one are not there yet. Of the runs of one workflow file for one event only the newest counts, with its jobs;
// a name alone never says that two are the same, because what is dropped here may be what is red.
import { sha256, toHex } from '../../core/sha256.ts';
import { type Check, isJob, isJobOf, type Run } from './check.ts';
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
    const jobs = counted.filter((check) => isJobOf(check, run)).map(({ state }) => classOf(state));
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
    const key = JSON.stringify([run.workflowId ?? run.workflow, run.event]);
    const known = newest.get(key);
    if (!known || isNewer(run, known)) newest.set(key, run);
  }
  return [...newest.values()];
}

function isNewer(a: Run, b: Run): boolean {
  const difference = (a.createdAt ?? 0) - (b.createdAt ?? 0);
  return difference === 0 ? a.id > b.id : difference > 0;
}

/** Without the jobs of runs that a newer one replaced, and without older reports of the same other app; in doubt all count. */
function countedChecks(checks: readonly Check[], runs: readonly Run[], newest: readonly Run[]): Check[] {
  const replaced = runs.filter((run) => !newest.includes(run));
  const reports = new Map<string, Check>();
  const counted: Check[] = [];
  for (const check of checks) {
    if (replaced.some((run) => isJobOf(check, run))) continue;
    const key = reportKey(check);
    if (key === undefined) {
      counted.push(check);
      continue;
    }
    const known = reports.get(key);
    if (!known || replaces(check, known)) reports.set(key, check);
  }
  return [...counted, ...reports.values()];
}

/** The same for two reports of the same thing; undefined: nothing can be told to be the same as this. */
function reportKey(check: Check): string | undefined {
  const { isStatus, workflow, name, link } = check;
  // GitHub keeps one status of a context, whoever set it.
  if (isStatus) return JSON.stringify(['status', name]);
  if (isJob(check) || link === '') return undefined;
  return JSON.stringify(['run', workflow, name, link.replace(/[?#].*$/, '')]);
}

/** The later one; where the times do not tell, the worse one. */
function replaces(check: Check, known: Check): boolean {
  if (check.startedAt !== null && known.startedAt !== null && check.startedAt !== known.startedAt)
    return check.startedAt > known.startedAt;
  return badness.indexOf(classOf(check.state)) > badness.indexOf(classOf(known.state));
}

const badness: readonly CheckClass[] = ['passed', 'skipped', 'running', 'gated', 'failed'];

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
