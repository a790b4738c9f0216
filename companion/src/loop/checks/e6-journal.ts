// E6: this iteration's entry stands in the journal, and nothing that was committed in it was changed.
import { changesOf, committed } from '../git.ts';
import { hasEntry, readJournal } from '../journal.ts';
import { type Check, fail, pass, skipped } from './check.ts';

export const journal: Check = {
  id: 'E6',
  title: 'journal appended',

  run({ state, place, git }) {
    if (!state) return skipped('the state cannot be read');
    const text = readJournal(place.journal);
    if (text === undefined) return fail('E6', [{ owner: 'loop', what: 'there is no journal.md' }]);
    const before = 'git' in git ? committed(git.git, '.loop/journal.md') : undefined;
    if (before && !Buffer.from(text).subarray(0, before.length).equals(before))
      return fail('E6', [
        {
          owner: 'loop',
          what: 'journal.md was rewritten: what is committed is not the beginning of it',
          command: 'git diff -- .loop/journal.md',
        },
      ]);
    const changed = 'git' in git ? changesOf(git.git, '.loop/journal.md', state.boundary) : [];
    const lost = changed.find((commit) => {
      const old = 'git' in git ? committed(git.git, '.loop/journal.md', commit) : undefined;
      return old !== undefined && !Buffer.from(text).subarray(0, old.length).equals(old);
    });
    // Whoever committed it has to bring it back: what is right cannot be told here.
    if (lost !== undefined)
      return fail('E6', [
        {
          owner: 'human',
          what: `journal.md was rewritten and committed: as ${lost.slice(0, 12)} has it, it is not the beginning of it`,
          command: `git diff ${lost} -- .loop/journal.md`,
        },
      ]);
    if (state.iteration > 0 && !hasEntry(text, state.iteration))
      return fail('E6', [{ owner: 'loop', what: `journal.md has no whole entry of iteration ${state.iteration}` }]);
    return pass(
      `entry of iteration ${state.iteration}`,
      before ? `the committed ${before.length} bytes are its beginning` : 'nothing of it is committed yet',
    );
  },
};
