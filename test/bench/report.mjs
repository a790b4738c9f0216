/**
 * From samples to lines, and from lines to the table on the screen and docs/BENCHMARKS.md. A line is one row of contract 13 (what, ours,
 * reference, ratio, bar, isOk, notes), a peer's figure, or a row that was skipped with its reason.
 */
import { readFileSync, statSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { fileSystemOf } from './proc.mjs';
import { median, quantile } from './timing.mjs';

/** A line whose bar is the ratio. */
export function ratioLine({ isOk, ...rest }) {
  const ratio = median(rest.ours) / median(rest.reference);
  return timesLine({ ...rest, isOk: isOk({ ratio }) });
}

/** A line of two times (in ms), the reference one if there is one. */
export function timesLine({ what, ours, reference, referenceName, unit = 'ms', bar, isOk, notes = [] }) {
  const hasReference = reference !== undefined && reference.length > 0;
  return {
    what,
    ours: time(median(ours), unit),
    reference: hasReference ? `${referenceName}: ${time(median(reference), unit)}` : (referenceName ?? ''),
    ratio: hasReference ? median(ours) / median(reference) : undefined,
    bar,
    isOk,
    notes: [`${spread(ours, unit)}${hasReference ? `; reference ${spread(reference, unit)}` : ''}`, ...notes],
  };
}

function time(ms, unit) {
  return unit === 's' ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(1)} ms`;
}

/** The noise of a sample: half of all lie in the first range, eight of ten in the second. */
export function spread(samples, unit = 'ms') {
  const [a, b, c, d] = [0.25, 0.75, 0.1, 0.9].map((share) => time(quantile(samples, share), unit).split(' ')[0]);
  const ranges = samples.length < 4 ? '' : `, half within ${a}-${b}, 80 % within ${c}-${d}`;
  return `${samples.length} runs${ranges}`;
}

function cellsOf({ name, line }) {
  if (line.skipped) return [name, line.what, 'not measured', line.skipped, '', line.bar ?? '', '-'];
  const verdict = line.isOk === undefined ? '-' : line.isOk ? 'ok' : 'OVER';
  return [name, line.what, line.ours, line.reference, line.ratio?.toFixed(2) ?? '', line.bar, verdict];
}

const heads = ['row', 'what', 'ours', 'reference', 'ratio', 'bar', ''];

export function renderText(lines) {
  const main = lines.filter(({ line }) => !line.peer).map(cellsOf);
  const rows = (main.length > 0 ? [heads, ...main] : [[]]).map((cells) => cells.filter((_, at) => at !== 1));
  const widths = rows[0].map((_, at) => Math.max(...rows.map((cells) => cells[at].length)));
  const table = rows.map((cells) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]))
      .join('  ')
      .trimEnd(),
  );
  const notes = lines.flatMap(({ name, line }) => (line.notes ?? []).map((note) => `  ${name}: ${note}`));
  const peers = peerRows(lines).map(
    (cells) => `  ${cells[0].padEnd(14)} launch ${cells[1].padEnd(24)} wait ${cells[2]}`,
  );
  return [...table, '', ...notes, ...(peers.length > 0 ? ['', 'other tools:', ...peers] : [])]
    .join('\n')
    .replaceAll('`', '');
}

/** One row a tool: launch and wait, or why not. */
function peerRows(lines) {
  const unknown = 'not measured';
  const own = lines.find(({ name }) => name === 'wait-exit')?.line.ours ?? unknown;
  const rows = new Map();
  const row = (peer) => {
    if (!rows.has(peer))
      rows.set(peer, [peer, unknown, peer === 'bgproc' ? 'has none' : peer === 'job-companion' ? own : unknown]);
    return rows.get(peer);
  };
  for (const { line } of lines) {
    if (!line.peer) continue;
    if (line.missing) row(line.peer).fill(line.missing, 1);
    else row(line.peer)[line.measure === 'launch' ? 1 : 2] = time(median(line.times), 'ms');
  }
  return [...rows.values()].sort(([a], [b]) => Number(b === 'job-companion') - Number(a === 'job-companion'));
}

export function renderMarkdown(lines, facts) {
  const table = (rows) =>
    rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
  const main = lines.filter(({ line }) => !line.peer).map((one) => cellsOf(one));
  const notes = lines.flatMap(({ name, line }) => (line.notes ?? []).map((note) => `- ${name}: ${note}`));
  const peers = peerRows(lines);
  return `# Benchmarks

Written by \`npm run bench\`; do not edit. Ours and the reference are measured in one run, in turn (A B A B ...); figures are medians, a
ratio is that of the two medians. The absolute times belong to this machine, the ratios travel. Without NODE_OPTIONS and
NODE_EXTRA_CA_CERTS.

${facts.map((fact) => `- ${fact}`).join('\n')}

${table([heads.map((head) => head || 'verdict'), heads.map(() => '---'), ...main])}

## Notes

${notes.join('\n')}
${peers.length === 0 ? '' : `\n## Other tools\n\n${table([['tool', 'launch returns', 'last statement to the end of its wait'], ['---', '---', '---'], ...peers])}\n`}`;
}

export function factsOf(lab, loadBefore) {
  const version = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
  const size = statSync(lab.companion).size;
  const type = fileSystemOf(lab.folder);
  return [
    `date: ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `job-companion ${version}, built file ${(size / 1024).toFixed(0)} KB`,
    `Node ${process.version}`,
    `${cpus().length} CPUs (${cpus()[0]?.model.trim() || 'unknown'}), ${(totalmem() / 2 ** 30).toFixed(0)} GB, ${process.platform} ${release()}${type ? `, ${type}` : ''}`,
    `load average before ${loadBefore.toFixed(2)}, after ${loadavg()[0].toFixed(2)}`,
  ];
}
