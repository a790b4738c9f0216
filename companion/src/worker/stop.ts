// Why the tree is being ended. The first reason wins, on disk: it is created exclusively before the first signal, by a worker or by
// the shim's guard, so that whoever publishes the end later says the same.
import { type EndReason, parseReason } from '../core/outcome.ts';
import { createFile, removeFile } from '../platform/files.ts';
import { readExit, readReason } from '../store/records.ts';
import type { Claim } from './claim.ts';

/** Write the reason down. Returns the one that counts, or undefined when the child had ended by itself before. */
export function claimReason(claim: Claim, reason: EndReason): EndReason | undefined {
  const { paths } = claim;
  if (readExit(paths)) return parseReason(readReason(paths));
  let isOurs = false;
  try {
    isOurs = createFile(paths.reason, `${reason}\n`, { sync: false });
  } catch {
    // A full disk or a folder that vanished must not keep us from ending the tree.
    return reason;
  }
  if (!isOurs) return parseReason(readReason(paths)) ?? reason;
  // It ended between the look and the reason: nobody was signaled, so it keeps its own end.
  if (!readExit(paths)) return reason;
  removeFile(paths.reason);
  return undefined;
}
