// The user's own config: `config.json` in the user's config folder. Programs come only from here or from the command line; a
// repository's config.json may only narrow (contract 11).
import { type UserConfig, userConfig } from '../core/config.ts';
import { errnoOf, FaultError } from '../core/errors.ts';
import { jsonFault } from '../core/json-fault.ts';
import { readText } from '../platform/files.ts';
import { factsOf, type PathFacts } from '../platform/folders.ts';
import { userConfigFile } from './user-config-file.ts';

export { userConfigFile } from './user-config-file.ts';

/** The user's config; empty when there is none. A file that cannot be trusted or read is refused, never skipped. */
export function readUserConfig(): UserConfig {
  const file = userConfigFile();
  const facts = file === undefined ? undefined : lookAt(file);
  if (file === undefined || !facts) return { backends: {} };
  if (facts.kind === 'file' && (facts.uid !== process.getuid?.() || (facts.mode & 0o022) !== 0)) {
    throw refused(file, 'others own it or may write it');
  }
  const text = readWhole(file);
  const fault = jsonFault(text);
  if (fault !== null) throw refused(file, `it is no JSON: ${fault}`);
  const parsed = userConfig.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw refused(file, `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'wrong form'}`);
}

function lookAt(file: string): PathFacts | undefined {
  try {
    return factsOf(file);
  } catch (error) {
    throw refused(file, `it cannot be read (${errnoOf(error)})`, 'set XDG_CONFIG_HOME to a folder that you may use');
  }
}

function readWhole(file: string): string {
  let text: string | undefined;
  try {
    text = readText(file);
  } catch (error) {
    throw refused(file, `it cannot be read (${errnoOf(error) ?? 'error'})`);
  }
  if (text === undefined) throw refused(file, 'it is no regular file');
  return text;
}

function refused(file: string, reason: string, next = form): FaultError {
  return new FaultError('preflight', `cannot use the config ${file}: ${reason}`, next);
}

const form =
  'the form is {"backends": {"NAME": {"argv": ["PROGRAM", "ARG"], "prompt": "stdin"}}, "notify": ["PROGRAM"]}';
