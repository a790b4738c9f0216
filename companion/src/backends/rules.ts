// Permission rules of agent CLIs, in the form KIND(ARGUMENT): may a profile that must change nothing be kept beside them? What is
// not clearly harmless is a fault, for how a CLI matches a rule (whole command, prefix, pattern) is rarely documented.
import { type Fields, fieldsOf } from './fields.ts';

/** What a kind of rule allows: nothing that changes anything, or the command that it names. Every other kind is a fault. */
export type Kinds = Readonly<Record<string, 'reads' | 'command'>>;

/** Why `rules` (as parsed; undefined is none) let something change; null when they do not. `where` names them for people. */
export function findRuleFault(rules: unknown, kinds: Kinds, where: string): string | null {
  if (rules === undefined || rules === null) return null;
  if (!Array.isArray(rules)) return `${where} is no list`;
  const fault = rules.find((rule) => !isHarmless(rule, kinds));
  return fault === undefined ? null : `${where} has the rule ${JSON.stringify(fault)}, which lets it change things`;
}

/** Settings as an object. Throws when the text is none: what cannot be read cannot be judged. */
export function parseSettings(text: string): Fields {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('settings are no JSON object');
  return fieldsOf(value);
}

function isHarmless(rule: unknown, kinds: Kinds): boolean {
  const parts = typeof rule === 'string' ? /^(\w+)\((.*)\)$/s.exec(rule) : null;
  const kind = parts && Object.hasOwn(kinds, parts[1] ?? '') ? kinds[parts[1] ?? ''] : undefined;
  if (kind === 'command') return readOnly.test(parts?.[2] ?? '');
  return kind === 'reads';
}

/**
 * Programs that write no file and start no other program, whatever arguments follow (a rule may be a prefix), and plain arguments:
 * no pattern, no redirection, no second command. So neither `git diff` and `git log` (--output), nor find, sort, sed, awk, rg, file.
 */
const readOnly =
  /^(?:basename|cat|cmp|cut|df|diff|dirname|du|e?grep|fgrep|head|id|ls|nl|pwd|readlink|realpath|stat|tail|tr|wc|whoami|which|git (?:ls-files|ls-tree|rev-parse|status))(?: [\w./:=@~+,-]+)*$/;
