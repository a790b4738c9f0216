// The user's own key, and the MAC of a spec made with it (contract 11): whoever can write into the state folder cannot make a
// command that we run. The key lies in the user's config folder, 0600, made at the first launch.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { errnoOf, FaultError } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { comparableEnvironment, configFolder } from '../platform/env.ts';
import { createFile, createFolder, readText } from '../platform/files.ts';
import { factsOf } from '../platform/folders.ts';

/** The key as hex; undefined when there is none (no launch was ever made by this user here). */
export function readKey(): string | undefined {
  const folder = configFolder();
  if (folder === undefined) return undefined;
  const file = path.join(folder, 'key');
  const facts = factsOf(file);
  if (!facts) return undefined;
  const isPrivate = facts.kind === 'file' && facts.uid === process.getuid?.() && (facts.mode & 0o077) === 0;
  const key = isPrivate ? readText(file, 1024)?.trim() : undefined;
  if (key && /^[0-9a-f]{64}$/.test(key)) return key;
  throw new FaultError(
    'preflight',
    `cannot use the key ${file}: it must be a file of yours with mode 600 and 64 hex digits`,
  );
}

export function ensureKey(): string {
  const known = readKey();
  if (known) return known;
  const folder = configFolder();
  if (folder === undefined) {
    throw new FaultError(
      'preflight',
      'cannot find your config folder: neither HOME nor XDG_CONFIG_HOME is set',
      'set HOME',
    );
  }
  try {
    makeFolders(folder);
    createFile(path.join(folder, 'key'), `${randomBytes(32).toString('hex')}\n`);
  } catch (error) {
    throw new FaultError(
      'preflight',
      `cannot make the key in ${folder} (${errnoOf(error)})`,
      'set XDG_CONFIG_HOME to a folder that you may write',
    );
  }
  return ensureKey();
}

export function macOf(spec: Omit<Spec, 'mac'>, key: string): string {
  return createHmac('sha256', key).update(canonical(spec)).digest('hex');
}

/** Is this the spec that this user's launcher wrote? */
export function isGenuine(spec: Spec, key: string | undefined): boolean {
  if (key === undefined) return false;
  const { mac, ...rest } = spec;
  const expected = Buffer.from(macOf(rest, key));
  const given = Buffer.from(mac);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** A keyed digest of the caller's environment: two are compared, none is ever shown. */
export function environmentDigest(key: string): string {
  return createHmac('sha256', key).update(comparableEnvironment()).digest('hex');
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function randomBytesOf(count: number): Buffer {
  return randomBytes(count);
}

/** JSON with sorted keys, so that the MAC does not hang on the order of fields. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

function makeFolders(folder: string): void {
  if (factsOf(folder)?.kind === 'folder') return;
  makeFolders(path.dirname(folder));
  createFolder(folder);
}
