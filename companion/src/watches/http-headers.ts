// Headers of an http watch. Those that usually carry a secret are taken from the environment only, at each look, and never recorded.
import { FaultError, usageError } from '../core/errors.ts';
import { variables } from '../platform/env.ts';

export interface HeaderPlan {
  /** As they are. */
  fixed: Record<string, string>;
  /** Header -> variable. */
  fromEnvironment: Record<string, string>;
}

const nameForm = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;
const secretName = /auth|cookie|token|secret|password|api-?key/i;
/** What makes up the request itself. */
const ours = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'accept-encoding',
]);

export function parseHeaders(fixed: readonly string[], fromEnvironment: readonly string[]): HeaderPlan {
  const plan: HeaderPlan = { fixed: {}, fromEnvironment: {} };
  const seen = new Set<string>();
  const requireName = (option: string, name: string): string => {
    const lower = name.toLowerCase();
    // What was given is not repeated: it may hold the secret.
    if (!nameForm.test(name) || ours.has(lower))
      throw usageError(`cannot take ${option}: it names no header that can be sent; ${form(option)}`);
    if (seen.has(lower)) throw usageError(`cannot take ${option} ${name}: this header is given twice`);
    seen.add(lower);
    return lower;
  };
  for (const text of fixed) {
    const [, name = '', value = ''] = /^([^:]*):[\t ]*(.*?)[\t ]*$/s.exec(text) ?? [];
    const header = requireName('--header', name);
    if (secretName.test(name)) {
      throw usageError(
        `cannot take --header ${name}: its value would stand in the record; give --header-env ${name}=VARIABLE`,
      );
    }
    if (!valueForm.test(value))
      throw usageError(`cannot take --header ${name}: its value has characters that no header can have`);
    plan.fixed[header] = value;
  }
  for (const text of fromEnvironment) {
    const [, name = '', variable = ''] = /^([^=]*)=([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? [];
    const header = requireName('--header-env', name);
    if (!variables.isSet(variable)) {
      throw new FaultError(
        'preflight',
        `cannot send the header ${name}: the variable ${variable} is not set; export it first`,
      );
    }
    plan.fromEnvironment[header] = variable;
  }
  return plan;
}

/** All of them with their values of now; a text says why they cannot be sent. */
export function headersOf(plan: HeaderPlan): Record<string, string> | string {
  const headers = { ...plan.fixed };
  for (const [header, variable] of Object.entries(plan.fromEnvironment)) {
    const value = variables.secret(variable)?.trim();
    if (!value)
      return `the header ${header} comes from the variable ${variable}, which is not set where this worker runs`;
    if (!valueForm.test(value)) return `the variable ${variable} has characters that no header can have`;
    headers[header] = value;
  }
  return headers;
}

function form(option: string): string {
  return option === '--header' ? "allowed: --header 'Name: value'" : 'allowed: --header-env Name=VARIABLE';
}
