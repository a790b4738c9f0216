// The checks of a boundary, in their order. A new one is one file and one line here.
import type { Check } from './check.ts';
import { coherent } from './e1-coherent.ts';
import { green } from './e2-green.ts';
import { jobsQuiet } from './e2b-jobs.ts';
import { harness } from './e3-harness.ts';
import { clean } from './e4-clean.ts';
import { handoff } from './e5-handoff.ts';
import { journal } from './e6-journal.ts';
import { conditions } from './e7-conditions.ts';

export const checks: readonly Check[] = [coherent, green, jobsQuiet, harness, clean, handoff, journal, conditions];
