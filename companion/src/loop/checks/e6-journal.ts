// E6: this iteration's entry stands in the journal, and nothing that was committed in it was changed.
import { committed } from '../git.ts';
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
    if (state.iteration > 0 && !hasEntry(text, state.iteration))
      return fail('E6', [{ owner: 'loop', what: `journal.md has no whole entry of iteration ${state.iteration}` }]);
    return pass(
      `entry of iteration ${state.iteration}`,
      before ? `the committed ${before.length} bytes are its beginning` : 'nothing of it is committed yet',
    );
  },
};
