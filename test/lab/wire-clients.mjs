// A client of each wire of the scripted model, as small as can be, for the test of the server itself:
//   body({ text, result, tools }, isStream)  a request whose newest user text is `text`, after a tool's `result` if given
//   read(parts)                              { text, calls: [{ name, args }] } of an answer, whole or the data of its events
import assert from 'node:assert/strict';

const schema = (name) => ({
  type: 'object',
  properties: name === 'bash' ? { command: {}, why: {} } : { file_path: {}, content: {} },
  required: name === 'bash' ? ['command', 'why'] : [],
});

export const wireClients = [
  {
    name: 'chat',
    path: () => 'v1/chat/completions',
    body: ({ text, result, tools }, stream) => ({
      stream,
      stream_options: { include_usage: true },
      messages: [
        { role: 'user', content: [{ type: 'text', text }] },
        ...(result === undefined ? [] : [{ role: 'tool', content: result }]),
      ],
      tools: tools.map((name) => ({ type: 'function', function: { name, parameters: schema(name) } })),
    }),
    read(parts) {
      assert.deepEqual(parts.map(({ usage }) => usage?.total_tokens).filter(Boolean), [120]);
      const said = parts.flatMap(({ choices }) => choices.map((choice) => choice.delta ?? choice.message));
      return {
        text: said.map(({ content }) => content ?? '').join(''),
        calls: said
          .flatMap(({ tool_calls }) => tool_calls ?? [])
          .map((call) => ({ name: call.function.name, args: JSON.parse(call.function.arguments) })),
      };
    },
  },
  {
    name: 'messages',
    path: () => 'v1/messages?beta=true',
    body: ({ text, result, tools }, stream) => ({
      stream,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>x</system-reminder>' },
            { type: 'text', text },
          ],
        },
        ...(result === undefined ? [] : [{ role: 'user', content: [{ type: 'tool_result', content: result }] }]),
      ],
      tools: tools.map((name) => ({ name, input_schema: schema(name) })),
    }),
    read(parts) {
      const calls = parts
        .flatMap((part) => part.content ?? part.content_block ?? [])
        .filter((b) => b.type === 'tool_use');
      const inputs = parts.flatMap(({ delta }) => (delta?.partial_json ? [JSON.parse(delta.partial_json)] : []));
      const texts = parts.flatMap((part) => [part.delta?.text, ...(part.content ?? []).map((b) => b.text)]);
      return {
        text: texts.join(''),
        calls: calls.map(({ name, input }, n) => ({ name, args: inputs[n] ?? input })),
      };
    },
  },
  {
    name: 'gemini',
    path: (isStream) => `v1beta/models/m:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: ({ text, result, tools }) => ({
      contents: [
        { role: 'user', parts: [{ text: '<session_context>x</session_context>' }] },
        { role: 'user', parts: [{ text }] },
        ...(result === undefined
          ? []
          : [{ role: 'user', parts: [{ functionResponse: { response: { output: result } } }] }]),
      ],
      tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: schema(name) })) }],
    }),
    read(parts) {
      assert.equal(parts.at(-1).candidates[0].finishReason, 'STOP');
      const said = parts.flatMap(({ candidates }) => candidates[0].content.parts);
      return {
        text: said.map(({ text }) => text ?? '').join(''),
        calls: said.flatMap(({ functionCall: call }) => (call ? [{ name: call.name, args: call.args }] : [])),
      };
    },
  },
];
