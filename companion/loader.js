// The beginning of the built file (companion/pack.mjs puts it there): compiles the parts and hands them out. What V8 made of the parts
// is kept in the user's cache folder, a file or two for each command, so that the next start compiles nothing (Node 20: 5 ms of a
// launch). Any trouble with the cache means a start without it. JOB_COMPANION_NO_CACHE=1 turns it off.
const builtins = {};
const loaded = {};
let usual;
let rare;

function builtin(name) {
  builtins[name] ??= Object.create(require(name), { default: { value: require(name) } });
  return builtins[name];
}

function load(name) {
  if (loaded[name]) return loaded[name].exports;
  const module = { exports: {} };
  loaded[name] = module;
  usual ??= compileParts(usualText, 'a');
  if (!usual[name]) rare ??= compileParts(rareText, 'b');
  (usual[name] ?? rare[name])(module, module.exports);
  return module.exports;
}

function compileParts(holder, group) {
  const text = holder.toString();
  const source = text.slice(text.indexOf('/*') + 2, text.lastIndexOf('*/')).replaceAll('*<>/', '*' + '/');
  const cache = findCache(group);
  const cachedData = cache === undefined ? undefined : readCache(cache);
  const { Script } = require('node:vm');
  const script = new Script(source, { filename: `job-companion-parts-${group}.js`, cachedData });
  if (cache !== undefined && cachedData === undefined) process.once('exit', () => writeCache(cache, script));
  return script.runInThisContext()(load, builtin, require /* HELPERS */);
}

/** Named after the build, the Node and the command: other ones need other code. */
function findCache(group) {
  const { env } = process;
  const home = env.XDG_CACHE_HOME?.startsWith('/')
    ? env.XDG_CACHE_HOME
    : env.HOME?.startsWith('/')
      ? `${env.HOME}/.cache`
      : undefined;
  if (home === undefined || env.JOB_COMPANION_NO_CACHE || !process.getuid) return undefined;
  const verb = /^[a-z_-]{2,12}$/.exec(process.argv[2] ?? '')?.[0] ?? 'other';
  return {
    folder: `${home}/job-companion`,
    name: `${verb}-${buildId}${group}-${process.version}-${process.arch}.bin`,
    verb,
  };
}

/** Only a file of ours that nobody else may write. */
function readCache({ folder, name }) {
  const fs = require('node:fs');
  try {
    const stat = fs.lstatSync(`${folder}/${name}`);
    if (!stat.isFile() || stat.uid !== process.getuid() || (stat.mode & 0o022) !== 0) return undefined;
    // Written twice, because V8 does not check what it is given: a damaged page shows as a difference.
    const bytes = fs.readFileSync(`${folder}/${name}`);
    const data = bytes.subarray(0, bytes.length / 2);
    return bytes.length > 0 && data.equals(bytes.subarray(bytes.length / 2)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function writeCache({ folder, name, verb }, script) {
  if (process.exitCode === 1) return;
  const fs = require('node:fs');
  const temporary = `${folder}/.${name}.${process.pid}`;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const data = script.createCachedData();
    const fd = fs.openSync(temporary, 'wx', 0o600);
    try {
      fs.writeFileSync(fd, Buffer.concat([data, data]));
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, `${folder}/${name}`);
    for (const old of fs.readdirSync(folder)) {
      if (!old.startsWith(`${verb}-`) || old.includes(buildId)) continue;
      // Another version may be in use beside this one.
      if (Date.now() - fs.lstatSync(`${folder}/${old}`).mtimeMs > 30 * 86_400_000) fs.unlinkSync(`${folder}/${old}`);
    }
  } catch {
    // A home that cannot be written: the next start compiles again.
    try {
      fs.unlinkSync(temporary);
    } catch {
      // It was never there.
    }
  }
}
