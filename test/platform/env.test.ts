// Which variables a worker and its child get: told by a process that was started with a known environment.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test, { type TestContext } from 'node:test';
import { makeWorkspace } from '../helpers/workspace.ts';
import { makeProgram } from './child-program.ts';

interface Told {
  worker: Record<string, string>;
  child: Record<string, string>;
  comparable: string[];
  credentials: string[];
  uncarriable: string[];
  config: string | null;
  owner: string | null;
  stateDir: string | null;
}

const code = `import * as env from './platform/env.ts';
  const child = { id: 'run-x', cwd: '/job/cwd', mark: 'm'.repeat(32), add: { ADDED: '1', OVER: 'new' }, remove: ['HOST_MARK'] };
  console.log(JSON.stringify({
    worker: env.workerEnvironment('w'.repeat(32)),
    child: env.childEnvironment(child),
    comparable: env.comparableEnvironment().split('\\0'),
    credentials: env.credentialNames(),
    uncarriable: env.uncarriableNames(),
    config: env.configFolder() ?? null,
    owner: env.variables.owner() ?? null,
    stateDir: env.variables.stateDir() ?? null,
  }));`;

function makeTeller(t: TestContext): (env: Record<string, string>) => Told {
  const workspace = makeWorkspace(t, { git: false });
  const program = makeProgram(workspace, 'tell', code);
  return (env) => JSON.parse(execFileSync(process.execPath, [program], { env, cwd: '/', encoding: 'utf8' }));
}

test('a worker starts without NODE_OPTIONS and NODE_EXTRA_CA_CERTS, and its child gets both back', (t) => {
  const tell = makeTeller(t);
  const { worker } = tell({ A: '1', NODE_OPTIONS: '--no-warnings', NODE_EXTRA_CA_CERTS: '' });
  assert.deepEqual(worker, {
    A: '1',
    JOB_COMPANION_NODE_OPTIONS: '--no-warnings',
    JOB_COMPANION_EXTRA_CA_CERTS: '',
    JOB_COMPANION_MARK: 'w'.repeat(32),
    JOB_COMPANION_ROLE: 'worker',
  });
  const { child } = tell(worker);
  assert.equal(child.NODE_OPTIONS, '--no-warnings');
  assert.equal(child.NODE_EXTRA_CA_CERTS, '');
  assert.equal(child.A, '1');
  for (const name of ['JOB_COMPANION_NODE_OPTIONS', 'JOB_COMPANION_EXTRA_CA_CERTS', 'JOB_COMPANION_ROLE']) {
    assert.equal(child[name], undefined, name);
  }
});

test('what an outer worker carried for its own child does not reach the worker of an inner job', (t) => {
  const { worker, child } = makeTeller(t)({ JOB_COMPANION_NODE_OPTIONS: '--old', JOB_COMPANION_MARK: 'outer' });
  assert.equal(worker.JOB_COMPANION_NODE_OPTIONS, undefined);
  assert.equal(worker.JOB_COMPANION_MARK, 'w'.repeat(32));
  assert.equal(child.JOB_COMPANION_MARK, 'm'.repeat(32));
});

test('a worker that starts a worker hands on what its caller had', (t) => {
  const tell = makeTeller(t);
  const carried = { JOB_COMPANION_NODE_OPTIONS: '--no-warnings', JOB_COMPANION_EXTRA_CA_CERTS: '/ca' };
  const { worker, child } = tell({ ...carried, JOB_COMPANION_ROLE: 'worker' });
  assert.deepEqual(worker, { ...carried, JOB_COMPANION_MARK: 'w'.repeat(32), JOB_COMPANION_ROLE: 'worker' });
  assert.equal(child.NODE_OPTIONS, '--no-warnings');
});

test('a child has its own job words and folder, and never the state folder of the caller', (t) => {
  const { child } = makeTeller(t)({
    ...{
      PATH: '/bin',
      JOB_ID: 'outer',
      JOB_OWNER: 'outer',
      JOB_STATE_DIR: '/caller/state',
      PWD: '/caller',
      OLDPWD: '/old',
    },
    ...{ OVER: 'old', HOST_MARK: '1', ODD: 'a=b\nc' },
  });
  assert.deepEqual(child, {
    PATH: '/bin',
    ODD: 'a=b\nc',
    OVER: 'new',
    ADDED: '1',
    PWD: '/job/cwd',
    JOB_ID: 'run-x',
    JOB_OWNER: 'run-x',
    JOB_COMPANION_MARK: 'm'.repeat(32),
  });
});

test('two environments compare equal when only what changes from call to call differs', (t) => {
  const tell = makeTeller(t);
  const base = { A: '1', B: '2', NODE_OPTIONS: '--no-warnings' };
  const passing = {
    PWD: '/x',
    OLDPWD: '/y',
    SHLVL: '3',
    _: '/bin/x',
    JOB_ID: 'a',
    JOB_OWNER: 'b',
    JOB_STATE_DIR: 'c',
    COLUMNS: '1',
    LINES: '2',
  };
  const told = tell({ ...base, ...passing, JOB_COMPANION_MARK: 'm' });
  assert.deepEqual(told.comparable, ['A=1', 'B=2', 'NODE_OPTIONS=--no-warnings']);
  assert.deepEqual(tell({ B: '2', NODE_OPTIONS: '--no-warnings', A: '1' }).comparable, told.comparable);
  assert.notDeepEqual(tell({ ...base, B: '3' }).comparable, told.comparable);
});

test('a worker and its launcher see the same environment to compare', (t) => {
  const tell = makeTeller(t);
  const launcher = tell({ A: '1', NODE_OPTIONS: '--no-warnings', NODE_EXTRA_CA_CERTS: '' });
  assert.deepEqual(tell(launcher.worker).comparable, launcher.comparable);
});

test('credentials are known by their names, and only names are told', (t) => {
  const secret = 'never-told-5f1c';
  const names = [
    ...[
      'OPENAI_API_KEY',
      'GH_TOKEN',
      'TOKEN',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_ACCESS_KEY_ID',
      'DB_PASSWORD',
      'npm_config_token',
    ],
    ...['APIKEY', 'X_APIKEY', 'CLIENT_SECRET', 'GOOGLE_CREDENTIALS', 'PASSWD'],
  ];
  const others = ['PATH', 'HOME', 'TOKENIZER', 'KEYBOARD', 'SECRETARY', 'MONKEY', 'API_KEY_FILE_NAME'];
  const told = makeTeller(t)(Object.fromEntries([...names, ...others].map((name) => [name, secret])));
  assert.deepEqual(told.credentials, [...names].sort());
  assert.doesNotMatch(JSON.stringify(told.credentials), /never-told/);
});

test('names that a shell cannot carry are told', (t) => {
  const told = makeTeller(t)({ 'a.b': '1', 'BASH_FUNC_x%%': '() { :; }', 'a-b': '1', '1a': '1', OK_1: '1', _x: '1' });
  assert.deepEqual(told.uncarriable, ['1a', 'BASH_FUNC_x%%', 'a-b', 'a.b']);
});

test('the config folder is below XDG_CONFIG_HOME when that is absolute, else below HOME, else nowhere', (t) => {
  const tell = makeTeller(t);
  assert.equal(tell({ XDG_CONFIG_HOME: '/x', HOME: '/h' }).config, '/x/job-companion');
  assert.equal(tell({ XDG_CONFIG_HOME: 'relative', HOME: '/h' }).config, '/h/.config/job-companion');
  assert.equal(tell({ XDG_CONFIG_HOME: '', HOME: '/h' }).config, '/h/.config/job-companion');
  assert.equal(tell({ HOME: '' }).config, null);
  assert.equal(tell({}).config, null);
});

test('an empty owner or state folder is none', (t) => {
  const tell = makeTeller(t);
  assert.deepEqual(
    [tell({ JOB_OWNER: '', JOB_STATE_DIR: '' })].map((told) => [told.owner, told.stateDir]),
    [[null, null]],
  );
  assert.deepEqual(
    [tell({ JOB_OWNER: 'me', JOB_STATE_DIR: '/s' })].map((told) => [told.owner, told.stateDir]),
    [['me', '/s']],
  );
});
