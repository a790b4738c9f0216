// Which package, and which of its versions, an npm watch looks at. Only what npm would look up in a registry: no folder, address or alias.
import { usageError } from '../core/errors.ts';
import { excerpt } from '../core/excerpt.ts';

/** In the spec, hence plain JSON. */
export interface NpmInput extends Record<string, unknown> {
  package: string;
  /** A version, a tag, a range; null: `latest`, or with `changed` false anything at all. */
  wanted: string | null;
  form: 'version' | 'tag' | 'range';
  changed: boolean;
}

/** No dash or dot at the beginning, so it is never an option and never a path. */
const nameForm = /^(?:@[A-Za-z0-9~-][\w.~-]*\/)?[A-Za-z0-9~][\w.~-]*$/;
const versionForm = /^[v=]*\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const tagForm = /^(?!v?\d|[xX]$)[A-Za-z][\w.-]*$/;
const rangeForm = /^[\dvxX*^~<>=][\w.*^~<>=| +-]*$/;
const longest = 214;

export function parsePackage(text: string, changed: boolean): NpmInput {
  const refuse = (cause: string): never => {
    const what = JSON.stringify(excerpt(text, 80));
    throw usageError(
      `cannot watch the package ${what}: ${cause}; allowed: NAME, NAME@VERSION, NAME@TAG, NAME@RANGE, also @SCOPE/NAME`,
    );
  };
  const at = text.indexOf('@', 1);
  const name = at < 0 ? text : text.slice(0, at);
  if (!nameForm.test(name) || name.length > longest) refuse('that is no name of a package');
  if (at < 0) return { package: name, wanted: null, form: 'tag', changed };
  const wanted = text.slice(at + 1).trim();
  if (wanted.length > longest) refuse('what follows the @ is too long');
  const form = versionForm.test(wanted)
    ? 'version'
    : tagForm.test(wanted)
      ? 'tag'
      : rangeForm.test(wanted)
        ? 'range'
        : null;
  if (form === null) return refuse('what follows the @ is no version, tag or range');
  if (form === 'version' && changed) refuse('a version never changes, so --changed can never be met');
  return { package: name, wanted: form === 'version' ? wanted.replace(/^[v=]+/, '') : wanted, form, changed };
}

export function specOf(input: NpmInput): string {
  return input.wanted === null ? input.package : `${input.package}@${input.wanted}`;
}
