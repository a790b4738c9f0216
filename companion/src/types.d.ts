/**
 * Owns the two things that only the build knows: the version, which companion/build.mjs writes in from package.json,
 * and `.sh` files imported as text (`import shim from './shim.sh'`). Unit tests get the same two from
 * test/helpers/register.mjs. No types of our own live here.
 */
declare const __VERSION__: string;

declare module '*.sh' {
  const text: string;
  export default text;
}
