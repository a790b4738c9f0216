/** Every section of the feature table that has its rows here. */
import type { Section } from './row.ts';
import { s0 } from './s0.ts';
import { s1 } from './s1.ts';
import { s2 } from './s2.ts';
import { s3 } from './s3.ts';

export const sections: readonly Section[] = [s0, s1, s2, s3];
