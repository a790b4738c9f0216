// The system's own table of signal numbers.
import { constants } from 'node:os';

export const signalNumbers: Readonly<Record<string, number>> = constants.signals;
