// The files that a run is to leave behind, before it starts: their paths checked and made absolute, and each as it is now, so that the
// end can tell what is new or changed. A path may lead through links; what counts is what stands behind them.
import path from 'node:path';
import { errnoOf, FaultError, usageError } from '../core/errors.ts';
import type { FileBaseline, RunPart } from '../core/job.ts';
import { resultPaths } from '../core/limits.ts';
import { type Behind, lookBehind } from '../platform/folders.ts';

type Paths = Required<Pick<RunPart, 'success_files' | 'result_paths' | 'result_baselines'>>;

export function pathsBefore(
  given: { results: readonly string[]; successFiles: readonly string[] },
  cwd: string,
): Paths {
  const results = listOf('result', given.results, cwd);
  const files = listOf('success-file', given.successFiles, cwd);
  return {
    success_files: files.map((file) => baselineOf('success-file', file)),
    result_paths: results,
    result_baselines: results.map((file) => baselineOf('result', file)),
  };
}

/** The same paths as they are now, for the same command once more. */
export function freshPaths(run: RunPart): Partial<Paths> {
  const { success_files: files, result_paths: results } = run;
  return {
    ...(files ? { success_files: files.map(({ path: file }) => baselineOf('success-file', file)) } : {}),
    ...(results ? { result_baselines: results.map((file) => baselineOf('result', file)) } : {}),
  };
}

export function requireLogPath(text: string, cwd: string): string {
  const file = absolutePath('log', text, cwd);
  lookAllowed('log', file);
  return file;
}

function listOf(option: Option, texts: readonly string[], cwd: string): string[] {
  if (texts.length > resultPaths)
    throw usageError(`cannot take ${texts.length} times --${option}: at most ${resultPaths} are allowed`);
  const files = texts.map((text) => absolutePath(option, text, cwd));
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined) throw usageError(`cannot take --${option} twice for ${twice}: name each path once`);
  return files;
}

type Option = 'success-file' | 'result' | 'log';

function absolutePath(option: Option, text: string, cwd: string): string {
  if (text === '')
    throw usageError(`cannot take --${option} "": allowed is a path, which counts from the job's folder`);
  if (/[\0\r\n]/.test(text))
    throw usageError(`cannot take --${option} ${JSON.stringify(text)}: a path may hold no line end and no NUL`);
  if (option !== 'result' && /\/\.{0,2}$/.test(text))
    throw usageError(`cannot take --${option} ${JSON.stringify(text)}: it names a folder; name a file in it`);
  return path.resolve(cwd, text);
}

function baselineOf(option: Option, file: string): FileBaseline {
  const now = lookAllowed(option, file);
  return { path: file, before: now ? { size: now.size, modified_ms: now.modifiedMs, inode: now.inode } : null };
}

/** What is there now, if that may become what was asked for. */
function lookAllowed(option: Option, file: string): Behind | undefined {
  const now = look(option, file);
  if (now?.kind === 'folder' && option !== 'result') throw refusal(option, file, 'it is a folder', 'name a file in it');
  if (now?.kind === 'other') throw refusal(option, file, 'it is neither a file nor a folder');
  if (now) return now;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const kind = look(option, folder)?.kind;
    if (kind === 'folder') return undefined;
    if (kind !== undefined) throw refusal(option, file, `${folder} is no folder`);
  }
}

function look(option: Option, file: string): Behind | undefined {
  try {
    return lookBehind(file);
  } catch (error) {
    throw refusal(option, file, `it cannot be looked at (${errnoOf(error) ?? 'error'})`);
  }
}

function refusal(option: Option, file: string, why: string, next = 'name another path'): FaultError {
  return new FaultError('preflight', `cannot take --${option} ${file}: ${why}`, next);
}
