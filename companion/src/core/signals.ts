// Signal names of exit codes above 128. Numbers differ between systems, so the caller brings the system's own table.

/** 143 -> SIGTERM; undefined when the code names no signal. */
export function signalOfExit(exitCode: number, table: Readonly<Record<string, number>>): string | undefined {
  if (exitCode <= 128 || exitCode > 192) return undefined;
  const number = exitCode - 128;
  const known = Object.entries(table).find(([, value]) => value === number);
  return known ? known[0] : `SIG${number}`;
}
