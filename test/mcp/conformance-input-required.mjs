// The tools and the prompt of the conformance suite that ask the client for something before they answer (revision 2026-07-28).
import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { z } from 'zod';

const codec = createRequestStateCodec({ key: randomBytes(32) });

/** Refuses a state that this process did not make. */
export const verifyState = codec.verify;

const says = (text) => ({ content: [{ type: 'text', text }] });

const form = (message, name, type = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
  });

const question = (text, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

const accepted = (responses, key, name) => {
  const response = inputResponse(responses, key);
  return response.kind === 'elicit' && response.action === 'accept' ? response.content?.[name] : undefined;
};

function tool(server, name, run) {
  const inputSchema = z.object({});
  server.registerTool(name, { description: `For the conformance suite: ${name}`, inputSchema }, (_, ctx) => run(ctx));
}

export function addAskingTools(server) {
  const prefix = 'test_input_required_result_';
  const who = { user_name: form('What is your name?', 'name') };
  tool(server, `${prefix}elicitation`, ({ mcpReq }) => {
    const name = accepted(mcpReq.inputResponses, 'user_name', 'name');
    return typeof name === 'string' ? says(`Hello, ${name}!`) : inputRequired({ inputRequests: who });
  });
  tool(server, `${prefix}sampling`, ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.capital_question;
    if (answer !== undefined) return says(`The model said: ${JSON.stringify(answer)}`);
    return inputRequired({ inputRequests: { capital_question: question('What is the capital of France?', 100) } });
  });
  tool(server, `${prefix}list_roots`, ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.client_roots;
    if (answer !== undefined) return says(`Roots: ${JSON.stringify(answer)}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of ['request_state', 'tampered_state']) {
    tool(server, prefix + name, async ({ mcpReq }) => {
      if (mcpReq.requestState() !== undefined && mcpReq.inputResponses !== undefined) return says('state-ok');
      const inputRequests = { confirm: form('Please confirm', 'ok', 'boolean') };
      return inputRequired({ inputRequests, requestState: await codec.mint({ round: 1 }) });
    });
  }
  tool(server, `${prefix}multiple_inputs`, async ({ mcpReq }) => {
    if (mcpReq.requestState() !== undefined && mcpReq.inputResponses !== undefined) return says('All three arrived');
    const inputRequests = {
      ...who,
      greeting: question('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    return inputRequired({ inputRequests, requestState: await codec.mint({ round: 1 }) });
  });
  tool(server, `${prefix}multi_round`, async ({ mcpReq }) => {
    const round = mcpReq.requestState()?.round ?? 0;
    if (round === 2) return says('Both rounds are done');
    const asks = [form('Step 1: What is your name?', 'name'), form('Step 2: What is your favorite color?', 'color')];
    const inputRequests = { [`step${round + 1}`]: asks[round] };
    return inputRequired({ inputRequests, requestState: await codec.mint({ round: round + 1 }) });
  });
  // Asks only for what the client says it can do.
  tool(server, `${prefix}capabilities`, ({ mcpReq }) => {
    const can = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
    const inputRequests = {
      ...(can.elicitation && who),
      ...(can.sampling && { capital_question: question('What is the capital of France?', 100) }),
      ...(can.roots && { client_roots: inputRequired.listRoots() }),
    };
    if (mcpReq.inputResponses !== undefined || Object.keys(inputRequests).length === 0) return says('Done');
    return inputRequired({ inputRequests });
  });
  // It needs sampling, whatever the client can do.
  tool(server, 'test_missing_capability', () =>
    inputRequired({ inputRequests: { capital_question: question('What is the capital of France?', 100) } }),
  );
  tool(server, 'test_streaming_elicitation', async ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return says('Done');
    return inputRequired({ inputRequests: who });
  });
  // The client gets it only if it names a level in its request.
  tool(server, 'test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'a line of the log');
    return says('Logged');
  });
  const context = { user_context: form('What context should the prompt use?', 'context') };
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first' }, ({ mcpReq }) => {
    const given = accepted(mcpReq.inputResponses, 'user_context', 'context');
    if (typeof given !== 'string') return inputRequired({ inputRequests: context });
    return { messages: [{ role: 'user', content: { type: 'text', text: `Use this: ${given}` } }] };
  });
}
