/**
 * `node --import ./test/helpers/register.mjs X.test.ts` runs TypeScript sources as the build would see them:
 * `.ts` through tsx, `.sh` files imported as text, and `__VERSION__` from package.json. This works for one test file
 * without the runner as well. The hook for `.sh` lives in sh-text.mjs, because Node 20 runs hooks in another thread.
 */
import { readFileSync } from 'node:fs';
import * as modules from 'node:module';
import { register as registerTsx } from 'tsx/esm/api';
import * as shText from './sh-text.mjs';

registerTsx();
// Newer Nodes warn about register(), Node 20 has nothing else.
if (modules.registerHooks) modules.registerHooks(shText);
else modules.register('./sh-text.mjs', import.meta.url);

globalThis.__VERSION__ = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
