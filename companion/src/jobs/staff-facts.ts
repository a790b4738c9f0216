// Who does the work of a staff job, as it is told: the same words in the table, the page and the documents.
import { excerpt, plainText } from '../core/excerpt.ts';
import type { Spec } from '../core/job.ts';

/** Which agent, with which rights and model. Null for a job without one. */
export function staffFacts(spec: Spec | null): {
  backend: string | null;
  profile: string | null;
  model: string | null;
} {
  const { staff } = spec ?? {};
  if (!staff) return { backend: null, profile: null, model: null };
  const short = (text: unknown): string => excerpt(plainText(String(text)), 120);
  return {
    backend: short(staff.custom?.name ?? staff.backend),
    profile: short(staff.profile),
    model: staff.model ? short(staff.model) : null,
  };
}
