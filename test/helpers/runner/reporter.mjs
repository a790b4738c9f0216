/**
 * node:test reporter: one JSON line for each test that says something of its own, for the runner to count. Suites are not
 * tests, and neither they nor a parent test are counted when their only fault is a failed child. A skip or a todo is
 * its own kind, whatever became of it. Plain JavaScript, because Node loads it before anything else.
 */
import { inspect } from 'node:util';

export default async function* report(events) {
  const names = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
    }
    if (type === 'test:diagnostic' && !/^\w+ [\d.]+$/.test(data.message))
      yield line({ kind: 'note', detail: data.message });
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const name = [...names.slice(0, data.nesting), data.name].join(' > ');
    const kind = kindOf(type, data);
    if (kind) yield line({ kind, name, detail: kind === 'fail' ? describe(data.details.error) : undefined });
  }
}

function kindOf(type, { skip, todo, details }) {
  if (skip !== undefined && skip !== false) return 'skip';
  if (todo !== undefined && todo !== false) return 'todo';
  if (type === 'test:fail') return details.error?.failureType === 'subtestsFailed' ? undefined : 'fail';
  return details.type === 'suite' ? undefined : 'pass';
}

function describe(error) {
  const cause = error?.cause ?? error;
  const text =
    cause instanceof Error ? (cause.stack ?? cause.message) : typeof cause === 'string' ? cause : inspect(cause);
  return text.replaceAll(/^ +at .*\(?node:.*\n?/gm, '');
}

function line(value) {
  return `${JSON.stringify(value)}\n`;
}
