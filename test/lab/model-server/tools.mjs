// Which of the client's tools the scripted model calls, and with what arguments, for what a scenario asks:
//   { command }                       a shell command
//   { file, content, first: 'shell' } a file to write, by the shell or, where none is declared, the client's own tool
//   { file, content, first: 'file' }  the same the other way round
//   { file, content, name }           the same by the tool of that name, whether the client declared it or not
// Names and parameters are those of the agent CLIs in the lab.

const shells = [
  'exec_command',
  'shell_command',
  'shell',
  'local_shell',
  'run_shell_command',
  'run_command',
  'run_terminal_cmd',
  'bash',
  'Bash',
];
const writers = ['write_file', 'Write', 'write', 'create'];

/**
 * @param declared {{name: string, schema: object | undefined}[]} the client's tools
 * @returns {{name: string, args: object} | null} null: the client declared no tool that can do it
 */
export function planCall(declared, { command, file, content, name, first = 'shell' }) {
  if (name) return fill(declared.find((tool) => tool.name === name) ?? guess(name), argsFor(name, file, content));
  const find = (names) => names.map((name) => declared.find((tool) => tool.name === name)).find(Boolean);
  const shell = find(shells);
  const writer = file === undefined ? undefined : find(writers);
  if (writer && (first === 'file' || !shell)) return fill(writer, argsFor(writer.name, file, content));
  return shell ? fill(shell, command === undefined ? argsFor(shell.name, file, content) : { command }) : null;
}

function argsFor(name, file, content) {
  if (writers.includes(name)) return { path: file, content };
  return { command: `printf %s ${quote(content)} > ${quote(file)}` };
}

/** What the schema of a tool that was not declared would say. */
function guess(name) {
  const properties = writers.includes(name) ? { file_path: {}, content: {} } : { command: {}, description: {} };
  return { name, schema: { properties, required: Object.keys(properties) } };
}

export function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

const keys = {
  command: ['cmd', 'command', 'CommandLine', 'script'],
  path: ['file_path', 'filePath', 'path', 'TargetFile'],
  content: ['content', 'file_text', 'contents', 'CodeContent'],
};

function fill({ name, schema }, values) {
  const properties = schema?.properties ?? {};
  const args = {};
  for (const [what, value] of Object.entries(values)) {
    const key = keys[what].find((known) => known in properties) ?? what;
    args[key] = typeOf(properties[key]) === 'array' ? ['bash', '-c', value] : value;
  }
  // Stay with a long command instead of coming back to the model while it runs.
  if ('yield_time_ms' in properties) args.yield_time_ms = 30_000;
  if ('timeout_ms' in properties) args.timeout_ms = 60_000;
  if ('initial_wait' in properties) args.initial_wait = 60;
  for (const key of schema?.required ?? []) args[key] ??= anyValue(properties[key]);
  return { name, args };
}

function anyValue(schema) {
  if (schema?.enum) return schema.enum[0];
  const values = { boolean: false, integer: 1, number: 1, array: [], object: {} };
  return values[typeOf(schema)] ?? 'of the lab';
}

/** In lower case: one vendor writes STRING. */
function typeOf(schema) {
  return String(schema?.type ?? 'string').toLowerCase();
}
