// Looking into a hand-back folder: what is told, when, and how often; and by whoever looks next.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { handbackFiles } from '../../companion/src/core/limits.ts';
import { handbackTellings } from '../../companion/src/core/limits-handback.ts';
import { handbackEvent, handbackWarnings, newBounds, withHandback } from '../../companion/src/jobs/handback-end.ts';
import { baselineOf, HandbackLook } from '../../companion/src/jobs/handback-look.ts';
import { openJournal, readEvents } from '../../companion/src/store/journal.ts';
import { makeJob, makePlace, makeSpec } from '../store/job-record.ts';

async function makeFolder(t: TestContext, there: Record<string, string> = {}) {
  const { root } = makePlace(t);
  const dir = join(root, '../handback');
  mkdirSync(dir);
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
  for (const [name, text] of Object.entries(there)) write(name, text);
  const found = await baselineOf(dir);
  assert.ok('baseline' in found, JSON.stringify(found));
  const part = { dir, baseline: found.baseline };
  const spec = makeSpec({ handback: part });
  const paths = makeJob(root, { spec, output: '', error: '' }, { isActive: true });
  const open = () => new HandbackLook(part, paths);
  const names = async (look: HandbackLook, isLast = false) => (await look.look(isLast)).news.map(({ name }) => name);
  return { dir, write, part, spec, paths, open, names };
}

test('a file is told when it stood still for two looks, in the order of names, and then no more', async (t) => {
  const { write, open, names } = await makeFolder(t);
  const look = open();
  write('02-b.md', 'b');
  write('01-a.md', 'a');
  write('status.md', 'busy');
  write('01-answer-a.md', 'yes');
  assert.deepEqual(await names(look), []);
  assert.deepEqual(await names(look), ['01-a.md', '02-b.md']);
  for (let n = 0; n < 3; n += 1) assert.deepEqual(await names(look), []);
  assert.deepEqual([look.standing.told, look.standing.newest], [2, '02-b.md']);
});

test('an empty file and one that grows are told when they are whole', async (t) => {
  const { write, open } = await makeFolder(t);
  const look = open();
  write('01-empty.md', '');
  for (let n = 1; n < 5; n += 1) {
    write('02-grows.md', 'x'.repeat(n));
    assert.deepEqual((await look.look(false)).news, []);
  }
  const { news } = await look.look(false);
  assert.deepEqual(
    news.map(({ name, bytes }) => [name, bytes]),
    [['02-grows.md', 4]],
  );
});

test('the last look tells what is there, whether it stood still or not', async (t) => {
  const { write, open, names } = await makeFolder(t);
  write('01-a.md', 'a');
  assert.deepEqual(await names(open(), true), ['01-a.md']);
});

test('what is renamed into place is told once, whatever its times say', async (t) => {
  const { dir, write, open, names } = await makeFolder(t);
  const look = open();
  write('.01-a.md.tmp', 'a');
  utimesSync(join(dir, '.01-a.md.tmp'), 1000, 1000);
  assert.deepEqual(await names(look), []);
  renameSync(join(dir, '.01-a.md.tmp'), join(dir, '01-a.md'));
  assert.deepEqual([await names(look), await names(look), await names(look)], [[], ['01-a.md'], []]);
});

test('the same name is told again with another content, or when it was gone meanwhile, and then as a change', async (t) => {
  const { dir, write, open } = await makeFolder(t);
  const look = open();
  const two = async () => [...(await look.look(false)).news, ...(await look.look(false)).news];
  write('01-a.md', 'a');
  assert.deepEqual(
    (await two()).map(({ changed }) => changed),
    [false],
  );
  write('01-a.md', 'a');
  chmodSync(join(dir, '01-a.md'), 0o640);
  utimesSync(join(dir, '01-a.md'), 5, 5);
  assert.deepEqual(await two(), []);
  rmSync(join(dir, '01-a.md'));
  assert.deepEqual(await two(), []);
  write('01-a.md', 'a');
  assert.deepEqual(
    (await two()).map(({ name, changed }) => [name, changed]),
    [['01-a.md', true]],
  );
  write('01-a.md', 'a');
  assert.deepEqual(await two(), []);
  write('01-a.md', 'b');
  assert.deepEqual(
    (await two()).map(({ name, changed }) => [name, changed]),
    [['01-a.md', true]],
  );
});

test('what lay there before wakes nobody until it is changed', async (t) => {
  const { dir, write, open, names } = await makeFolder(t, { '01-old.md': 'old', '02-old.md': 'old' });
  const look = open();
  utimesSync(join(dir, '01-old.md'), 5, 5);
  assert.deepEqual([await names(look), await names(look)], [[], []]);
  write('02-old.md', 'new');
  assert.deepEqual([await names(look), await names(look)], [[], ['02-old.md']]);
  assert.deepEqual(await names(open(), true), ['02-old.md']);
});

test('whoever looks next goes on from the journal: nothing twice, nothing lost', async (t) => {
  const { write, open, names, paths, spec } = await makeFolder(t);
  const look = open();
  write('01-a.md', 'a');
  await look.look(false);
  const journal = openJournal(paths, spec);
  for (const one of (await look.look(false)).news) journal.append('handback', handbackEvent(one));
  write('02-b.md', 'b');
  const next = open();
  assert.deepEqual([await names(next), await names(next)], [[], ['02-b.md']]);
  // The event of 02 was never written: it is told by the one after.
  const ended = await withHandback(
    { paths, spec },
    { reason: 'exited', exit: undefined, tree: none, reconciled: true },
  );
  const told = readEvents(paths, 0, 100).events.filter(({ type }) => type === 'handback');
  assert.deepEqual(
    told.map(({ name, wake }) => [name, wake]),
    [
      ['01-a.md', ['handback']],
      ['02-b.md', ['handback']],
    ],
  );
  assert.deepEqual(ended.handback, { dir: look.standing.dir, told: 2, newest: '02-b.md', frozen: false });
});
const none = { step: 'none' as const, ended: [], survivors: [] };

test('links, folders and pipes are no files of it', async (t) => {
  const { dir, write, open, names } = await makeFolder(t);
  write('target', 'secret');
  symlinkSync(join(dir, 'target'), join(dir, '01-link.md'));
  symlinkSync('/etc/passwd', join(dir, '02-link.md'));
  mkdirSync(join(dir, '03-folder.md'));
  write('04-file.md', 'x');
  const look = open();
  assert.deepEqual(
    [await names(look), await names(look), await names(open(), true)],
    [[], ['04-file.md'], ['04-file.md']],
  );
});

test('a folder that is gone, or a link now, is said and looked into again when it is back', async (t) => {
  const { dir, write, open, names } = await makeFolder(t);
  const look = open();
  renameSync(dir, `${dir}-aside`);
  assert.deepEqual(await look.look(false), { news: [], trouble: 'it is gone' });
  symlinkSync(`${dir}-aside`, dir);
  writeFileSync(join(dir, '01-a.md'), 'a');
  assert.deepEqual(await look.look(true), { news: [], trouble: 'it is a link now' });
  rmSync(dir);
  writeFileSync(dir, '');
  assert.deepEqual(await look.look(true), { news: [], trouble: 'it is no folder any more' });
  rmSync(dir);
  mkdirSync(dir);
  write('02-b.md', 'b');
  assert.deepEqual([await names(look), await names(look)], [[], ['02-b.md']]);
});

test('complete.md freezes by its last line alone and wakes nobody', async (t) => {
  const { write, open, names } = await makeFolder(t);
  const look = open();
  write('complete.md', 'FROZEN soon');
  assert.deepEqual([await names(look), await names(look), look.standing.frozen], [[], [], false]);
  write('complete.md', 'Done.\nFROZEN\n');
  assert.deepEqual([await names(look), await names(look), look.standing.frozen], [[], [], true]);
});

test('complete.md of an earlier job freezes nothing until it is written again, also in the same words', async (t) => {
  const { dir, write, open, names } = await makeFolder(t, { 'complete.md': 'FROZEN\n', '01-old.md': 'old' });
  const look = open();
  assert.deepEqual([await names(look), await names(look), look.standing.frozen], [[], [], false]);
  assert.deepEqual([await names(open(), true), look.standing.frozen], [[], false]);
  rmSync(join(dir, 'complete.md'));
  write('complete.md', 'FROZEN\n');
  assert.deepEqual([await names(look), await names(look), look.standing.frozen], [[], [], true]);
});

test('the same words in another file are new: renamed into place, or removed and written anew between two looks', async (t) => {
  const { dir, write, open, names } = await makeFolder(t, {
    '01-old.md': 'same',
    '02-old.md': 'same',
    '03-old.md': 'x',
  });
  const place = (name: string) => {
    write('.tmp', 'same');
    renameSync(join(dir, '.tmp'), join(dir, name));
  };
  const again = (name: string) => {
    // The numbers that were free may be given to others first.
    rmSync(join(dir, name));
    write(name, 'same');
  };
  const look = open();
  const two = async () => [...(await names(look)), ...(await names(look))];
  assert.deepEqual(await two(), []);
  place('01-old.md');
  again('02-old.md');
  assert.deepEqual(await two(), ['01-old.md', '02-old.md']);
  assert.deepEqual(await two(), []);
  place('01-old.md');
  again('02-old.md');
  assert.deepEqual(await names(look, true), ['01-old.md', '02-old.md']);
  rmSync(join(dir, '03-old.md'));
  assert.deepEqual(await two(), []);
  write('03-old.md', 'x');
  assert.deepEqual(await two(), ['03-old.md']);
  // Another name is another file, and what is only moved about is what it was.
  renameSync(dir, `${dir}-aside`);
  assert.equal((await look.look(false)).trouble, 'it is gone');
  renameSync(`${dir}-aside`, dir);
  assert.deepEqual(await two(), []);
});

test('who looks next knows another file of the same words by the journal', async (t) => {
  const { dir, write, open, names, paths, spec } = await makeFolder(t);
  write('01-a.md', 'a');
  const journal = openJournal(paths, spec);
  for (const one of (await open().look(true)).news) journal.append('handback', handbackEvent(one));
  assert.deepEqual(await names(open(), true), []);
  write('.tmp', 'a');
  renameSync(join(dir, '.tmp'), join(dir, '01-a.md'));
  assert.deepEqual(await names(open(), true), ['01-a.md']);
});

test('the baseline of a job that an older version started is read', async (t) => {
  const { dir, write, paths } = await makeFolder(t);
  write('01-a.md', 'a');
  write('02-large.md', 'x'.repeat(1024 * 1024 + 1));
  write('complete.md', 'FROZEN');
  const stampOf = (name: string) => {
    const { ino, size, mtimeNs, ctimeNs } = statSync(join(dir, name), { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join('/');
  };
  const baseline = {
    '01-a.md': 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
    '02-large.md': stampOf('02-large.md'),
    'complete.md': stampOf('complete.md'),
    '03-odd.md': null as unknown as string,
  };
  const look = new HandbackLook({ dir, baseline }, paths);
  assert.deepEqual([(await look.look(true)).news, look.standing.frozen], [[], false]);
  write('01-a.md', 'b');
  assert.deepEqual(
    (await look.look(true)).news.map(({ name }) => name),
    ['01-a.md'],
  );
});

test(`at most ${handbackFiles} names are told, and one more is told as an event, once`, async (t) => {
  const { write, open, names, paths, spec } = await makeFolder(t);
  for (let n = 0; n < handbackFiles; n += 1) write(`50-${String(n).padStart(3, '0')}.md`, 'x');
  const look = open();
  assert.equal((await names(look, true)).length, handbackFiles);
  assert.deepEqual(newBounds(look), []);
  write('60-more.md', 'x');
  assert.deepEqual(await names(look, true), []);
  const events = newBounds(look);
  assert.deepEqual(
    events.map(({ bound, wake }) => [bound, wake]),
    [['names', ['attention', 'handback']]],
  );
  assert.match(String(events[0]?.reason), /more than 100 files were handed back/);
  assert.deepEqual(newBounds(look), []);
  const warnings = handbackWarnings([], look, null);
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['handback_many'],
  );
  assert.deepEqual(handbackWarnings(warnings, look, null), warnings);
  // A name that is known is told on.
  write('50-000.md', 'changed');
  assert.deepEqual(await names(look, true), ['50-000.md']);
  assert.equal(look.standing.told, handbackFiles);
  const journal = openJournal(paths, spec);
  journal.append('handback_many', events[0]);
  const next = open();
  await next.look(true);
  await names(next, true);
  assert.deepEqual(newBounds(next), []);
});

test('what is told again takes no place of another name, and has a bound of its own', async (t) => {
  const { write, open, names, paths, spec } = await makeFolder(t);
  const look = open();
  for (let n = 0; n < handbackFiles + 20; n += 1) {
    write('01-a.md', `round ${n}`);
    assert.deepEqual(await names(look, true), ['01-a.md']);
  }
  write('98-questions.md', 'which?');
  assert.deepEqual(await names(look, true), ['98-questions.md']);
  assert.deepEqual([look.standing.told, look.standing.newest], [2, '98-questions.md']);
  const journal = openJournal(paths, spec);
  for (let n = 0; n < handbackTellings; n += 1)
    journal.append('handback', { name: '01-a.md', sha256: String(n), wake: ['handback'] });
  const late = open();
  assert.deepEqual(await names(late, true), []);
  assert.match(String(newBounds(late)[0]?.reason), /handed back 1000 times: nothing more is told/);
  assert.equal(late.standing.told, 1);
});

test('the one told last is named among those that are still there', async (t) => {
  const { dir, write, open, names } = await makeFolder(t);
  const look = open();
  for (const name of ['01-a.md', '02-b.md']) write(name, name);
  await names(look, true);
  write('01-a.md', 'again');
  await names(look, true);
  assert.deepEqual([look.standing.told, look.standing.newest], [2, '01-a.md']);
  rmSync(join(dir, '01-a.md'));
  await names(look, true);
  assert.equal(look.standing.newest, '02-b.md');
});

test('a folder that is back is no trouble any more', async (t) => {
  const { open } = await makeFolder(t);
  const look = open();
  const other = { code: 'other', message: 'x' };
  const warned = handbackWarnings([other], look, 'it is gone');
  assert.deepEqual(
    warned.map(({ code }) => code),
    ['other', 'handback_unseen'],
  );
  assert.deepEqual(handbackWarnings(warned, look, 'it is a link now'), warned);
  assert.deepEqual(handbackWarnings(warned, look, null), [other]);
});

test('a file that is too large to be read is told by its size and both ends, and not when it is only touched', async (t) => {
  const { dir, write, open, names } = await makeFolder(t, { '02-old.md': 'y'.repeat(1024 * 1024 + 1) });
  const large = 'x'.repeat(1024 * 1024 + 1);
  write('01-large.md', large);
  const look = open();
  const { news } = await look.look(true);
  assert.deepEqual(
    news.map(({ name, sha256, ends, bytes }) => [name, sha256, ends?.length, bytes]),
    [['01-large.md', null, 64, 1024 * 1024 + 1]],
  );
  for (const name of ['01-large.md', '02-old.md']) utimesSync(join(dir, name), 5, 5);
  assert.deepEqual(await names(look, true), []);
  for (const changed of [`${large}x`, `${large}y`, `z${large}`]) {
    write('01-large.md', changed);
    assert.deepEqual(await names(look, true), ['01-large.md']);
  }
  rmSync(join(dir, '02-old.md'));
  assert.deepEqual(await names(look, true), []);
  write('02-old.md', 'y'.repeat(1024 * 1024 + 1));
  assert.deepEqual(await names(look, true), ['02-old.md']);
});
