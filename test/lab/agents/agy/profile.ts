// The stand-in for agy in the lab (agy.mjs): the last part of the base URL names its scenario, its calls are recorded in the home.
import { basename, join } from 'node:path';
import type { LabProfile } from '../profile.ts';

export const profile: LabProfile = {
  id: 'agy',
  program: 'agy',
  node: null,
  isStandIn: true,
  wire: null,
  environment: ({ home, baseUrl }) => ({
    STAND_IN_SCENARIO: basename(baseUrl),
    STAND_IN_RECORD: join(home, 'stand-in-calls.ndjson'),
  }),
  configure() {},
  slowCases: [],
  resumesElsewhere: true,
  model: null,
};
