// Help pages from the table of options.
import { wrap } from '../output/wrap.ts';
import type { Command } from './command.ts';

export function renderHelp(command: Command): string {
  const rows = Object.entries(command.options).map(([name, row]): [string, string] => [
    `--${name}${row.value ? ` ${row.value}` : ''}`,
    row.help,
  ]);
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  const options = rows.map(
    ([left, right]) => `  ${left.padEnd(width)}${wrap(right, 78 - width - 2).join(`\n  ${' '.repeat(width)}`)}`,
  );
  const parts = [
    wrap(`${command.name} ${command.form}`, 76).join('\n    '),
    wrap(command.summary, 80).join('\n'),
    ['Options:', ...options].join('\n'),
  ];
  if (command.notes)
    parts.push(
      command.notes
        .split('\n')
        .flatMap((line) => wrap(line, 80))
        .join('\n'),
    );
  parts.push(['Examples:', ...command.examples.map((example) => `  job-companion ${example}`)].join('\n'));
  return `${parts.join('\n\n')}\n`;
}
