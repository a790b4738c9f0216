#!/usr/bin/env node
// The project's own scripted model: agent CLIs in the lab talk to it instead of to a vendor. Loopback only, no packages.
//
//   node test/lab/model-server.mjs [--log FILE]
//
// Prints one line, {"listening":"http://127.0.0.1:PORT"}, and serves until SIGTERM, SIGINT or the end of its stdin: so
// a test that dies never leaves it behind. Base URLs are http://127.0.0.1:PORT/SCENARIO/v1 (model-server/scenarios.mjs).
import { parseArgs } from 'node:util';
import { startServer } from './model-server/server.mjs';

const { values } = parseArgs({ options: { log: { type: 'string' } } });
const server = await startServer({ logFile: values.log });
console.log(JSON.stringify({ listening: server.url }));

const stop = () => {
  server.close();
  process.exit(0);
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.stdin.once('end', stop);
process.stdin.once('error', stop);
process.stdin.resume();
