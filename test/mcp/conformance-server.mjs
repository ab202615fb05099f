// The tools, resources and prompts that the official conformance suite requires, behind the gateway's own MCP endpoint,
// which is under test. `npm run conformance` starts it.
import { setTimeout as pause } from 'node:timers/promises';
import { fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Gateway } from '#troupe/gateway/server.js';
import { addAskingTools, verifyState } from './conformance-input-required.mjs';

/** A red dot, and a moment of silence. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

const says = (text) => ({ content: [{ type: 'text', text }] });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri, mimeType, text) => ({ type: 'resource', resource: { uri, mimeType, text } });

/** Listens on a free port of this machine only. */
export async function startConformanceServer() {
  const statelessMcpPeer = { serverFor: () => makeServer(), async close() {} };
  const options = { host: '127.0.0.1', port: 0, allowedHosts: [], makeMcpPeer: makePeer, statelessMcpPeer };
  const gateway = await Gateway.listen(options);
  // Only /mcp is requested, and its peers need no sessions.
  gateway.serve({ tokens: { required: false } });
  return { url: gateway.url, close: () => gateway.close(1_000) };
}

function makePeer() {
  const server = makeServer();
  server.server.setRequestHandler('resources/subscribe', async () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
  server.server.setRequestHandler('logging/setLevel', async () => ({}));
  return { connect: (transport) => server.connect(transport), suspend() {}, close: () => server.close() };
}

/** The same for both generations. */
function makeServer() {
  const server = new McpServer(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: { completions: {}, logging: {}, resources: { subscribe: true } },
      instructions: 'For the conformance suite',
      requestState: { verify: verifyState },
    },
  );
  addTools(server);
  addTalkingTools(server);
  addAskingTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}

function tool(server, name, inputSchema, run) {
  const schema = '~standard' in inputSchema ? inputSchema : z.object(inputSchema);
  server.registerTool(name, { description: `For the conformance suite: ${name}`, inputSchema: schema }, run);
}

function addTools(server) {
  const json = embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}');
  const text = embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.');
  tool(server, 'test_simple_text', {}, async () => says('This is a simple text response for testing.'));
  tool(server, 'test_image_content', {}, async () => ({ content: [image] }));
  tool(server, 'test_audio_content', {}, async () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }));
  tool(server, 'test_embedded_resource', {}, async () => ({ content: [text] }));
  tool(server, 'test_multiple_content_types', {}, async () => ({
    content: [{ type: 'text', text: 'Multiple content types test:' }, image, json],
  }));
  tool(server, 'test_error_handling', {}, async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  addSchemaTool(server);
}

function addSchemaTool(server) {
  const address = {
    $anchor: 'addressDef',
    type: 'object',
    properties: { street: { type: 'string' }, city: { type: 'string' } },
  };
  const contact = (required) => ({ required: [required] });
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [contact('phone'), contact('email')] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: contact('phone'),
    else: contact('email'),
    additionalProperties: false,
  };
  tool(server, 'json_schema_2020_12_tool', fromJsonSchema(schema), async () => says('ok'));
}

/** Tools that send messages to the client while they run. */
function addTalkingTools(server) {
  tool(server, 'test_tool_with_logging', {}, async (_, { mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      await pause(50);
    }
    return says('Logged');
  });
  tool(server, 'test_tool_with_progress', {}, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params });
      await pause(50);
    }
    return says('Done');
  });
  tool(server, 'test_sampling', { prompt: z.string() }, async ({ prompt }) => {
    const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
    const { content } = await server.server.createMessage({ messages, maxTokens: 100 });
    return says(`LLM response: ${content.text}`);
  });
  const string = (description) => ({ type: 'string', description });
  const person = { username: string("User's response"), email: string("User's email address") };
  tool(server, 'test_elicitation', { message: z.string() }, async ({ message }, extra) => {
    return says(`User response: ${await elicit(extra, message, person, ['username', 'email'])}`);
  });
  tool(server, 'test_elicitation_sep1034_defaults', {}, async (_, extra) => {
    return says(`Elicitation completed: ${await elicit(extra, 'Look at the defaults', DEFAULTS)}`);
  });
  tool(server, 'test_elicitation_sep1330_enums', {}, async (_, extra) => {
    return says(`Elicitation completed: ${await elicit(extra, 'Choose', ENUMS)}`);
  });
  tool(server, 'test_reconnection', {}, async (_, { http }) => {
    await pause(50);
    http?.closeSSE?.();
    await pause(100);
    return says('Reconnected');
  });
}

async function elicit({ mcpReq }, message, properties, required) {
  const requestedSchema = { type: 'object', properties, ...(required && { required }) };
  const params = { mode: 'form', message, requestedSchema };
  const { action, content } = await mcpReq.send({ method: 'elicitation/create', params });
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const plain = ['option1', 'option2', 'option3'];
const titled = (word) =>
  ['First', 'Second', 'Third'].map((nth, n) => ({ const: `value${n + 1}`, title: `${nth} ${word}` }));
const ENUMS = {
  untitledSingle: { type: 'string', enum: plain },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

function addResources(server) {
  const add = (name, uri, mimeType, content) =>
    server.registerResource(name, uri, { description: name, mimeType }, async () => ({
      contents: [{ uri, mimeType, ...content }],
    }));
  add('text', 'test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  add('binary', 'test://static-binary', 'image/png', { blob: PNG });
  add('watched', 'test://watched-resource', 'text/plain', { text: 'watched' });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const mimeType = 'application/json';
  server.registerResource('template', template, { description: 'by id', mimeType }, async (uri, { id }) => {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri: uri.href, mimeType, text }] };
  });
}

function addPrompts(server) {
  const asks = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
  const text = (words) => ({ type: 'text', text: words });
  const add = (name, argsSchema, run) =>
    server.registerPrompt(name, { description: name, ...(argsSchema && { argsSchema: z.object(argsSchema) }) }, run);
  add('test_simple_prompt', null, async () => asks(text('This is a simple prompt for testing.')));
  add('test_prompt_with_arguments', { arg1: z.string(), arg2: z.string() }, async ({ arg1, arg2 }) =>
    asks(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  add('test_prompt_with_embedded_resource', { resourceUri: z.string() }, async ({ resourceUri }) =>
    asks(
      embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ),
  );
  add('test_prompt_with_image', null, async () => asks(image, text('Please analyze the image above.')));
  server.server.setRequestHandler('completion/complete', async ({ params }) => {
    const values = ['paris', 'park', 'party'].filter((word) => word.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}
