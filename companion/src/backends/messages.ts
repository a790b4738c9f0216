// The stream shape of Claude Code, which qwen speaks too: `system`/`init`, `assistant` and `user` with content blocks,
// `stream_event` with the provider's own deltas, `result` last. What a `result` means differs, so each backend reads its own.
// Lines of a sub-agent carry `parent_tool_use_id`: their calls are noted, their words are not the agent's.

import { excerpt, plainText } from '../core/excerpt.ts';
import { excerptBytes } from '../core/limits.ts';
import { type Ending, noteDenial, noteTool, type Reading } from './backend.ts';
import { type Fields, fieldsOf, textOf } from './fields.ts';

/** Fold `init`, `assistant`, `user` and `stream_event`; everything else is left alone. */
export function readMessage(event: Fields, reading: Reading, at: string): void {
  const isOwn = typeof event.parent_tool_use_id !== 'string';
  switch (event.type) {
    case 'system':
      if (event.subtype === 'init') readInit(event, reading);
      break;
    case 'assistant':
      if (isOwn) reopen(reading);
      readAssistant(fieldsOf(event.message), isOwn, reading, at);
      break;
    case 'user':
      for (const block of blocksOf(event)) if (block.type === 'tool_result') readToolResult(block, reading, at);
      break;
    case 'stream_event':
      if (isOwn) readDelta(fieldsOf(event.event), reading);
      break;
  }
}

/** `permission_denials` of a `result`, for calls whose refusal no event of its own has told. */
export function readDenials(denials: unknown, reading: Reading): void {
  for (const denial of Array.isArray(denials) ? denials.map(fieldsOf) : []) {
    const call = reading.tools.find((tool) => tool.key === textOf(denial.tool_use_id));
    if (call) call.status = 'denied';
    const what = excerpt(inputText(denial.tool_input), excerptBytes);
    noteDenial(reading, what ? `${textOf(denial.tool_name)}: ${what}` : textOf(denial.tool_name));
  }
}

/** A call was refused before it ran: its own event, by the id of the call. */
export function readDenial(event: Fields, reading: Reading, at: string): void {
  const key = textOf(event.tool_use_id);
  const call = reading.tools.find((tool) => tool.key === key && tool.ended_at === null);
  noteTool(reading, { key, name: call?.name ?? textOf(event.tool_name), status: 'denied' }, at);
}

/** The last line of stderr that is no mere notice: what a CLI says when it writes no stream. */
export function errorWords(ending: Ending, notice: RegExp): string {
  const lines = plainText(ending.stderrTail)
    .split('\n')
    .map((line) => line.trim());
  return (lines.findLast((line) => line !== '' && !notice.test(line)) ?? '').replace(/^error:\s*/i, '');
}

function readInit(event: Fields, reading: Reading): void {
  reopen(reading);
  // Only what can stand on a command line again, and never as an option.
  if (/^\w[\w-]{0,99}$/.test(textOf(event.session_id))) reading.conversationId ??= textOf(event.session_id);
  reading.model = textOf(event.model) || reading.model;
}

/** One process may go on after a result (a background task that reports back): the last result counts. */
function reopen(reading: Reading): void {
  if (reading.final === 'success') reading.final = null;
}

/** What a CLI says in the model's place (an API error): told by the result, and no answer. */
const isSynthetic = (message: Fields): boolean => message.model === '<synthetic>';

function readAssistant(message: Fields, isOwn: boolean, reading: Reading, at: string): void {
  if (isSynthetic(message)) return;
  if (isOwn) reading.model = textOf(message.model) || reading.model;
  for (const block of blocksOf({ message })) {
    if (block.type === 'text' && isOwn) reading.text = textOf(block.text) || reading.text;
    if (block.type === 'tool_use') {
      const call = { key: textOf(block.id), name: textOf(block.name), input: inputText(block.input) };
      noteTool(reading, { ...call, status: 'running' }, at);
    }
  }
}

function readToolResult(block: Fields, reading: Reading, at: string): void {
  const key = textOf(block.tool_use_id);
  const call = reading.tools.find((tool) => tool.key === key && tool.ended_at === null);
  // A refused call has ended before its result comes.
  if (!call) return;
  const output = contentText(block.content);
  // The only sign of a tool that the profile takes away and the model calls all the same.
  const isTakenAway = /\bNo such tool available\b.*\bis disabled for this session\b/s.test(output.slice(0, 1000));
  const status = block.is_error !== true ? 'completed' : isTakenAway ? 'denied' : 'failed';
  noteTool(reading, { key, name: call.name, output, status }, at);
}

function readDelta(event: Fields, reading: Reading): void {
  if (event.type === 'message_start') reopen(reading);
  if (event.type === 'content_block_start' && fieldsOf(event.content_block).type === 'text') reading.text = '';
  const delta = fieldsOf(event.delta);
  if (event.type === 'content_block_delta' && delta.type === 'text_delta') reading.text += textOf(delta.text);
}

function blocksOf(event: Fields): Fields[] {
  const { content } = fieldsOf(event.message);
  return Array.isArray(content) ? content.map(fieldsOf) : [];
}

function inputText(input: unknown): string {
  return textOf(fieldsOf(input).command) || JSON.stringify(input ?? {});
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part) => textOf(fieldsOf(part).text)).join('\n');
}
