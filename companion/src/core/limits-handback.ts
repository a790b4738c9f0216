// More numbers of the hand-back folder, beside those in limits.ts.

/** How often files are told in all, those that are told again included. */
export const handbackTellings = 1000;
/** Of a file that is too large to be read whole: so much of both ends. */
export const handbackEnds = 64 * 1024;
