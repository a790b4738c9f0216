// The user's own key, and the MAC of a spec made with it (contract 11): whoever can write into the state folder cannot make a
// command that we run. The key lies in the user's config folder, 0600, made at the first launch.
import path from 'node:path';
import { errnoOf, FaultError } from '../core/errors.ts';
import type { Spec } from '../core/job.ts';
import { hmacSha256, sha256, toHex } from '../core/sha256.ts';
import { comparableEnvironment, configFolder } from '../platform/env.ts';
import { createFile, createFolder, readText } from '../platform/files.ts';
import { factsOf, type PathFacts } from '../platform/folders.ts';
import { randomBytes } from '../platform/random.ts';

/** Above this, node:crypto pays for its loading. */
const longBytes = 64 * 1024;

/** The key as hex; undefined when there is none (no launch was ever made by this user here). */
export function readKey(): string | undefined {
  const folder = configFolder();
  if (folder === undefined) return undefined;
  const file = path.join(folder, 'key');
  const facts = lookAt(file);
  if (!facts) return undefined;
  const isPrivate = facts.kind === 'file' && facts.uid === process.getuid?.() && (facts.mode & 0o077) === 0;
  const key = isPrivate ? readText(file, 1024)?.trim() : undefined;
  if (key && /^[0-9a-f]{64}$/.test(key)) return key;
  throw new FaultError(
    'preflight',
    `cannot use the key ${file}: it must be a file of yours with mode 600 and 64 hex digits`,
  );
}

function lookAt(file: string): PathFacts | undefined {
  try {
    return factsOf(file);
  } catch (error) {
    throw new FaultError(
      'preflight',
      `cannot read the key ${file} (${errnoOf(error)})`,
      'set XDG_CONFIG_HOME to a folder that you may use',
    );
  }
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
    createFile(path.join(folder, 'key'), `${toHex(randomBytes(32))}\n`);
  } catch (error) {
    throw new FaultError(
      'preflight',
      `cannot make the key in ${folder} (${errnoOf(error)})`,
      'set XDG_CONFIG_HOME to a folder that you may write',
    );
  }
  return ensureKey();
}

export function macOf(spec: Omit<Spec, 'mac'>, key: string): Promise<string> {
  return keyedDigest(key, canonical(spec));
}

/** Is this the spec that this user's launcher wrote? */
export async function isGenuine(spec: Spec, key: string | undefined): Promise<boolean> {
  if (key === undefined) return false;
  const { mac, ...rest } = spec;
  // A worker asks this, and lives long: our own code would become hot here, and V8's compiler for hot code costs it 4 MB.
  return sameMac(await systemDigest(key, Buffer.from(canonical(rest))), mac);
}

/** Of an answer that watches share; never that of a spec, which begins with a brace. */
export function macOfAnswer(answer: unknown, key: string): Promise<string> {
  return systemDigest(key, Buffer.from(`answer ${canonical(answer)}`));
}

/** The same, at once; for short answers only. */
export function macOfShort(answer: unknown, key: string): string {
  return toHex(hmacSha256(Buffer.from(key), Buffer.from(`answer ${canonical(answer)}`)));
}

/** Every character is compared, so that the time tells nothing of how many were right. */
export function sameMac(expected: string, mac: string): boolean {
  let difference = expected.length ^ mac.length;
  for (let at = 0; at < expected.length; at += 1) difference |= expected.charCodeAt(at) ^ mac.charCodeAt(at);
  return difference === 0;
}

/** A keyed checksum of the caller's environment (53 bits): tells two apart, shows nothing of either. */
export function environmentDigest(key: string): string {
  const text = key + comparableEnvironment();
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(16);
}

/** SHA-256 of a short text, as hex. */
export function hashOf(text: string): string {
  return toHex(sha256(Buffer.from(text)));
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

async function keyedDigest(key: string, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  return bytes.length <= longBytes ? toHex(hmacSha256(Buffer.from(key), bytes)) : systemDigest(key, bytes);
}

/** The same by node:crypto. */
async function systemDigest(key: string, bytes: Uint8Array): Promise<string> {
  const { createHmac } = await import('node:crypto');
  return createHmac('sha256', key).update(bytes).digest('hex');
}

function makeFolders(folder: string): void {
  if (factsOf(folder)?.kind === 'folder') return;
  makeFolders(path.dirname(folder));
  createFolder(folder);
}
