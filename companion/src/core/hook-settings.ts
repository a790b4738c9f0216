// The hooks of ours in the settings of a host, as text to text: added, brought up to date, or taken away, with every other setting
// as it was. A command of ours is known by its end; what runs before and after it in other groups is somebody else's. Pure.
import { type HookEvent, type HookHost, hookEvents, hookHosts } from './hooks.ts';
import { jsonFault } from './json-fault.ts';
import { findLoss, printLike } from './json-text.ts';
import { quoteWords } from './shell-words.ts';

/** Seconds after which the host gives up: far behind our own limit, so that it never strikes first. */
export const hostLimitSeconds = 5;

/** No word on stderr and no code but 0, also when this program was moved or removed. */
const quietly = '2>/dev/null || :';
const ownEnd = ` hook (${hookHosts.join('|')}) (${hookEvents.join('|')}) 2>/dev/null \\|\\| :`;
const own = new RegExp(`${ownEnd}$`);
/** A byte order mark. */
const mark = '\uFEFF';

/** One hook of ours that stands in a file. */
export interface OwnHook {
  event: string;
  command: string;
}

export interface HookEdit {
  /** Null: nothing is left in it. */
  text: string | null;
  /** It is what we would make where no file is, to the letter. */
  isAsMade?: boolean;
  /** One line per change, for people. */
  changes: string[];
}

interface Handler {
  type?: unknown;
  command?: unknown;
}
type Group = Record<string, unknown> & { hooks?: unknown };

/** `self`: the absolute words that start this program. */
export function hookCommand(self: readonly string[], host: HookHost, event: HookEvent): string {
  return `${quoteWords([...self, 'hook', host, event])} ${quietly}`;
}

/** The command without what makes it quiet, for whoever wants its words. */
export function bareCommand(command: string): string {
  return command.slice(0, -quietly.length).trimEnd();
}

/** Throws an Error that says why when the text has another form than expected. */
export function findOwnHooks(text: string): OwnHook[] {
  const { hooks } = parse(text);
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups.flatMap((group) => handlersOf(group).filter(isOwn)).map(({ command }) => ({ event, command: `${command}` })),
  );
}

/** Exactly one hook of ours per event, of this command; whatever was there of ours goes. Null text: there is no file yet. */
export function addHooks(text: string | null, host: HookHost, self: readonly string[]): HookEdit {
  const { all, hooks } = text === null ? { all: {}, hooks: {} } : parse(text);
  const changes: string[] = [];
  const result: Record<string, Group[]> = { ...hooks };
  for (const event of hookEvents) {
    const command = hookCommand(self, host, event);
    const groups = result[event] ?? [];
    const there = groups.flatMap((group) => handlersOf(group).filter(isOwn));
    if (there.length === 1 && there[0]?.command === command) continue;
    changes.push(`hooks.${event}: ${there.length === 0 ? 'adds' : 'now'} ${command}`);
    const handler = { type: 'command', command, timeout: hostLimitSeconds };
    result[event] = [...withoutOwn(groups), { hooks: [handler] }];
  }
  return { text: changes.length === 0 ? text : print({ ...all, hooks: result }, text), changes };
}

export function removeHooks(text: string): HookEdit {
  const { all, hooks } = parse(text);
  const found = findOwnHooks(text);
  if (found.length === 0) return { text, changes: [] };
  const left = Object.entries(hooks)
    .map(([event, groups]): [string, Group[], boolean] => [event, withoutOwn(groups), groups.length > 0])
    .filter(([, groups, hadSome]) => groups.length > 0 || !hadSome)
    .map(([event, groups]) => [event, groups]);
  const rest: Record<string, unknown> = { ...all, hooks: Object.fromEntries(left) };
  if (left.length === 0) delete rest.hooks;
  const changes = found.map(({ event, command }) => `hooks.${event}: takes away ${command}`);
  if (Object.keys(rest).length > 0) return { text: print(rest, text), changes };
  return { text: null, changes, isAsMade: isAsMade(text, found) };
}

/** As `addHooks` writes it where no file is. */
function isAsMade(text: string, found: readonly OwnHook[]): boolean {
  const hooks = Object.fromEntries(
    found.map(({ event, command }) => [event, [{ hooks: [{ type: 'command', command, timeout: hostLimitSeconds }] }]]),
  );
  return text === print({ hooks }, null);
}

/** For somebody who writes it by hand. */
export function hookBlock(host: HookHost, self: readonly string[]): string {
  return addHooks(null, host, self).text as string;
}

/** May a hook of ours stand in it? Also in a text that is not understood. */
export function mentionsOwn(text: string): boolean {
  return new RegExp(ownEnd).test(text);
}

/** Does the host run no hook at all? */
export function areHooksOff(text: string): boolean {
  return parse(text).all.disableAllHooks === true;
}

/** Groups that held nothing but ours go with it. */
function withoutOwn(groups: readonly Group[]): Group[] {
  return groups.flatMap((group) => {
    const handlers = handlersOf(group);
    const left = handlers.filter((handler) => !isOwn(handler));
    if (left.length === handlers.length) return [group];
    return left.length === 0 ? [] : [{ ...group, hooks: left }];
  });
}

function isOwn({ type, command }: Handler): boolean {
  return type === 'command' && typeof command === 'string' && own.test(command);
}

function handlersOf(group: Group): Handler[] {
  return Array.isArray(group.hooks) ? group.hooks.filter(isObject) : [];
}

function parse(text: string): { all: Record<string, unknown>; hooks: Record<string, Group[]> } {
  if (text.trim() === '' && !text.startsWith(mark)) return { all: {}, hooks: {} };
  if (text.startsWith(mark)) throw new Error('it begins with a byte order mark; allowed is UTF-8 without one');
  let all: unknown;
  try {
    all = JSON.parse(text);
  } catch {
    throw new Error(`it is no JSON: ${jsonFault(text)}; allowed is JSON without comments and trailing commas`);
  }
  if (!isObject(all)) throw new Error('it is no JSON object');
  const hooks = all.hooks ?? {};
  if (!isObject(hooks)) throw new Error('its "hooks" is no object');
  for (const [event, groups] of Object.entries(hooks))
    if (!Array.isArray(groups) || !groups.every(isObject))
      throw new Error(`its "hooks.${event}" is no list of objects`);
  return { all, hooks: hooks as Record<string, Group[]> };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Never written when that would change what is somebody else's. */
function print(value: unknown, old: string | null): string {
  const line = old === null ? null : findLoss(old);
  if (line !== null)
    throw new Error(
      `line ${line} would not be the same when it is written again; allowed is JSON without doubled keys, ` +
        'numbers of more digits than a double holds, and needless escapes',
    );
  return printLike(value, old);
}
