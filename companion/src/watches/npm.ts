// A package in an npm registry: a version that is published, a tag that moves. Asked through the caller's own npm in the job's folder, so
// its registry, its login and its proxy are the ones that count; no token is read here.
import { excerpt } from '../core/excerpt.ts';
import { evidenceChars, npmBytes } from '../core/limits.ts';
import { variables } from '../platform/env.ts';
import { type Found, readAnswer } from './npm-answer.ts';
import { type NpmInput, parsePackage, specOf } from './npm-words.ts';
import { requireBaseline, timeOf } from './remote.ts';
import type { Cursor, Look, Watch } from './watch.ts';

export const npm = {
  id: 'npm',
  summary: 'a package in the npm registry: a version that is published, a tag that moves',
  form: 'NAME[@VERSION|TAG|RANGE]',
  words: { min: 1, max: 1 },
  options: {
    changed: {
      kind: 'flag',
      help: 'the version behind the tag (default latest) or range is another one than at the first look',
    },
  },
  examples: ['watch npm left-pad@1.3.0 --for 2h', 'watch npm @scope/tool@next --changed --for 1d'],
  isRemote: true,

  read(given, place) {
    if (given.has('changed')) requireBaseline(place);
    const input = parsePackage(given.words[0] ?? '', given.has('changed'));
    return { input, words: `npm ${specOf(input)} (${input.changed ? 'changed' : 'published'})` };
  },

  async look(plain, tools, cursor) {
    const input = plain as NpmInput;
    const program = tools.find('npm');
    if (program === undefined) {
      const message = `npm is not on PATH (${variables.searchPath()})`;
      return { kind: 'fault', cause: 'tool_missing', message: excerpt(message, 1000) };
    }
    const answer = readAnswer(
      await tools.run({ program, args: argumentsOf(input), limit: npmBytes, timeoutMs: timeOf(tools) }),
    );
    return answer.kind === 'found' ? lookOf(input, answer, cursor) : answer;
  },
} as const satisfies Watch;

/** One question of one attempt: the watch tries again by itself, and npm's logs are the caller's own. */
function argumentsOf(input: NpmInput): string[] {
  const quiet = [
    '--json',
    '--no-update-notifier',
    '--logs-max=0',
    '--fetch-retries=0',
    '--loglevel=error',
    '--no-color',
  ];
  // A range may name thousands of versions, and a package may have hundreds of tags.
  const fields = input.form === 'range' ? ['name', 'version'] : ['version', 'dist-tags'];
  return ['view', ...quiet, '--', specOf(input), ...fields];
}

function lookOf(input: NpmInput, found: Found, cursor: Cursor | null): Look {
  const isThere = found.version !== null && isWanted(input, found.version);
  const version = isThere ? found.version : null;
  const isArmed = typeof cursor?.version === 'string' || cursor?.version === null;
  const baseline = typeof cursor?.version === 'string' ? cursor.version : null;
  const isNew = isArmed && version !== null && version !== baseline;
  const isMet = input.changed ? isNew : isThere;
  const word = !isThere
    ? 'missing'
    : !input.changed
      ? 'published'
      : !isArmed
        ? 'armed'
        : isNew
          ? 'changed'
          : 'unchanged';
  const tags = Object.entries(found.tags).map(([tag, tagged]) => `${tag} is ${tagged}`);
  const details = {
    missing: 'not there yet',
    published: input.form === 'version' ? 'published' : `${version} is published`,
    armed: `${version} now`,
    changed: `${baseline ?? 'nothing'} before, ${version} now`,
    unchanged: `still ${version}`,
  }[word];
  const told = [`npm ${specOf(input)}: ${details}`, ...(input.form === 'version' ? tags : [])].join(', ');
  return {
    kind: 'look',
    verdict: isMet ? 'met' : 'pending',
    word,
    evidence: excerpt(told, evidenceChars),
    // A change that was told and the look after it have the same key.
    key: input.changed ? (version ?? 'none') : `${word} ${version ?? ''}`,
    facts: { package: input.package, wanted: input.wanted, version, dist_tags: found.tags },
    // What vanishes for a moment did not change.
    cursor: input.changed ? { version: isMet || !isArmed ? version : baseline } : {},
  };
}

/** npm leaves out what follows a +, and so does every registry. */
function isWanted(input: NpmInput, version: string): boolean {
  return input.form !== 'version' || version === input.wanted?.replace(/\+.*$/, '');
}
