// Branches and the stash: those that this work tree may have moved. A branch that another work tree has checked out is that one's
// affair, and so is the branch of a job (`job-companion/ID`) that is not ours: several jobs work beside each other in one repository.
import { createHash } from 'node:crypto';
import type { Git } from '../../platform/git-tool.ts';
import { nameOf } from './status.ts';
import type { GitPart } from './types.ts';

export const refLimits = { names: 500 };

export type Refs = Pick<GitPart, 'refs' | 'refs_rest' | 'elsewhere'>;

interface Ref {
  name: string;
  tip: string;
  isHere: boolean;
  isElsewhere: boolean;
}

export function readRefs(git: Git): Refs {
  const listed = listRefs(git);
  const all = listed && withStash(git, listed);
  if (!all) return { refs: null, refs_rest: null, elsewhere: {} };
  const ours = all.filter((ref) => !ref.isElsewhere).sort((a, b) => rank(a) - rank(b));
  const rest = ours.slice(refLimits.names);
  const stable = rest.filter(({ name }) => !isOfJob(name)).map(({ name, tip }) => `${name} ${tip}`);
  return {
    refs: recordOf(ours.slice(0, refLimits.names)),
    refs_rest: rest.length === 0 ? null : { count: rest.length, digest: digestOf(stable.sort().join('\n')) },
    elsewhere: recordOf(all.filter((ref) => ref.isElsewhere).slice(0, refLimits.names)),
  };
}

/** The own branch and the stash first, branches of jobs last: what is cut off should matter least. */
function rank({ name, isHere }: Ref): number {
  if (isHere || name === 'refs/stash') return 0;
  return isOfJob(name) ? 2 : 1;
}

function isOfJob(name: string): boolean {
  return name.startsWith('refs/heads/job-companion/');
}

function listRefs(git: Git): Ref[] | undefined {
  const ask = (place: string) =>
    git.run(['for-each-ref', `--format=%(objectname)%00%(refname)%00%(HEAD)%00${place}`, 'refs/heads', 'refs/stash']);
  // A work tree that is just being made beside us lets git fail at its half-written files.
  for (const place of ['%(worktreepath)', '%(worktreepath)', '%(worktreepath)', '']) {
    const answer = ask(place);
    if (answer.ok) return answer.bytes.toString('latin1').split('\n').flatMap(parseRef);
    if (answer.code === null) return undefined;
  }
  return undefined;
}

/** All work trees share one stash. Its newest entry says on which branch it was made, and that tells whose it is. */
function withStash(git: Git, all: Ref[]): Ref[] {
  const stash = all.find(({ name }) => name === 'refs/stash');
  if (!stash) return all;
  const answer = git.run(['rev-list', '--max-count=1', '--format=%s', stash.tip, '--']);
  const subject = answer.ok ? (answer.bytes.toString('latin1').split('\n')[1] ?? '') : '';
  const [, branch = ''] = /^(?:WIP on|On) ([^:]+): /.exec(subject) ?? [];
  const name = `refs/heads/${nameOf(branch)}`;
  const maker = all.find((ref) => ref.name === name);
  const isTheirs = maker ? maker.isElsewhere || (isOfJob(name) && !maker.isHere) : isOfJob(name);
  return all.map((ref) => (ref === stash ? { ...ref, isElsewhere: isTheirs } : ref));
}

function parseRef(line: string): Ref[] {
  const [tip = '', ref, mark, place = ''] = line.split('\0');
  // The second line of a folder with a line end in its name is none.
  if (!/^[0-9a-f]{40,64}$/.test(tip) || !ref) return [];
  const isHere = mark === '*';
  return [{ name: nameOf(ref), tip, isHere, isElsewhere: !isHere && place !== '' }];
}

function recordOf(refs: Ref[]): Record<string, string> {
  return Object.fromEntries(refs.map(({ name, tip }) => [name, tip]));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

export interface RefChanges {
  /** Names, sorted. */
  changed: string[];
  /** Where those that are told of point to now. */
  tips: string[];
  /** Something changed beyond what the lists hold. */
  isMore: boolean;
  exact: boolean;
}

/** A list that was cut tells only of the names in both. */
export function compareRefs(was: GitPart, is: GitPart): RefChanges {
  if (was.refs === null || is.refs === null) return { changed: [], tips: [], isMore: false, exact: false };
  const [before, now] = [was.refs, is.refs];
  const isCut = was.refs_rest !== null || is.refs_rest !== null;
  const own = [was.branch, is.branch].map((branch) => `refs/heads/${branch}`);
  const isOurs = (name: string): boolean =>
    !(name in was.elsewhere || name in is.elsewhere) &&
    (!isOfJob(name) || own.includes(name)) &&
    (!isCut || (name in before && name in now));
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(isOurs).sort();
  return {
    changed: names.filter((name) => before[name] !== now[name]),
    tips: names.flatMap((name) => (name === 'refs/stash' || now[name] === undefined ? [] : [now[name]])),
    isMore: was.refs_rest?.digest !== is.refs_rest?.digest,
    exact: !isCut,
  };
}
