// The Gemini wire: `models/M:streamGenerateContent` (server-sent events), `:generateContent` and `:countTokens`. Facts
// about the shapes are from the vendor's API reference and from watching gemini 0.61.0.
import { breakOff, makeId, openStream, piecesOf, sendEvent, sendJson, sendWhole, userTextOf } from './sse.mjs';

export const gemini = {
  name: 'gemini',
  matches: (path) => /\/models\/[^/]+:(?:streamGenerateContent|generateContent|countTokens)$/.test(path),
  look,
  say,
  call,
  error: ({ status, message }) => ({ error: { code: status, message, status: errorNames[status] ?? 'INTERNAL' } }),
};

const errorNames = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 429: 'RESOURCE_EXHAUSTED' };
const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };

function look({ body, path }) {
  const contents = body.contents ?? [];
  const users = contents.filter(({ role }) => role === 'user').map(({ parts }) => userTextOf(textsOf(parts)));
  const results = (contents.at(-1)?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []);
  const declared = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
  return {
    userTexts: users.filter((text) => text !== undefined),
    toolOutput: results.length > 0 ? outputOf(results.at(-1)) : null,
    tools: declared.map((tool) => ({ name: tool.name, schema: tool.parametersJsonSchema ?? tool.parameters })),
    side: sideOf(body, path, declared),
  };
}

function textsOf(parts) {
  return (parts ?? []).map((part) => part.text ?? '');
}

function outputOf({ response }) {
  return String(response?.output ?? response?.error ?? JSON.stringify(response ?? ''));
}

/** What the CLI asks for itself: a count, or (without tools) which model fits and who speaks next, as JSON. */
function sideOf(body, path, declared) {
  if (path.endsWith(':countTokens')) return { json: { totalTokens: usageMetadata.totalTokenCount } };
  if (declared.length > 0) return undefined;
  const isJson = body.generationConfig?.responseMimeType === 'application/json';
  return { text: isJson ? JSON.stringify(sideFacts) : 'A short title' };
}

const sideFacts = {
  reasoning: 'of the lab',
  next_speaker: 'user',
  model_choice: 'flash',
  complexity_reasoning: 'of the lab',
  complexity_score: 10,
};

function say({ response, path }, text, broken) {
  if (!isStream(path)) return sendWhole(response, shape(path, [{ text }], 'STOP'), broken);
  openStream(response);
  for (const piece of piecesOf(text)) {
    sendEvent(response, shape(path, [{ text: piece }]));
    if (broken) return breakOff(response, broken);
  }
  sendEvent(response, shape(path, [{ text: '' }], 'STOP'));
  response.end();
}

function call({ response, path }, calls) {
  const parts = calls.map(({ name, args }) => ({ functionCall: { id: makeId('call'), name, args } }));
  const answer = shape(path, parts, 'STOP');
  if (!isStream(path)) return sendJson(response, 200, answer);
  openStream(response);
  sendEvent(response, answer);
  response.end();
}

function isStream(path) {
  return path.endsWith(':streamGenerateContent');
}

function shape(path, parts, finishReason) {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }],
    usageMetadata: finishReason && usageMetadata,
    modelVersion: path.replace(/^.*\/models\/([^:/]+):.*$/, '$1'),
    responseId: makeId('resp'),
  };
}
