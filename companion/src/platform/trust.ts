// Whom an https look trusts: what Node brings, and the caller's NODE_EXTRA_CA_CERTS. Workers start without that variable (platform/env.ts
// says why), so the file is read here instead, when an https address is looked at.
import type { SecureContext } from 'node:tls';
import { variables } from './env.ts';
import { readText } from './files.ts';

let made: { of: string; context: SecureContext } | undefined;

/** For https.request; undefined: Node's own trust is all there is. Like Node itself, it goes on without a file that it cannot use. */
export async function extraTrust(): Promise<SecureContext | undefined> {
  const file = variables.extraCaFile();
  const text = file === undefined ? undefined : readCertificates(file);
  if (!text) return undefined;
  // Making one costs some 20 ms: once for each content of the file, which may be renewed while a watch runs for weeks.
  if (made?.of !== text) {
    const { createSecureContext, rootCertificates } = await import('node:tls');
    try {
      made = { of: text, context: createSecureContext({ ca: [...rootCertificates, text] }) };
    } catch {
      return undefined;
    }
  }
  return made.context;
}

function readCertificates(file: string): string | undefined {
  try {
    return readText(file);
  } catch {
    return undefined;
  }
}
