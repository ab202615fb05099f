import type { Tool } from '@modelcontextprotocol/server';

/**
 * The only tool. Clients pay for this text with each of their requests, so it has just enough for a model that gets no
 * instructions; `test/mcp/` counts its tokens.
 */
export const EVAL_TOOL: Tool = {
  name: 'agent_eval',
  title: 'Run a script in a browser',
  description: `Runs JavaScript in a real browser of your own. Answers the last expression's value, and console output. Variables last. No await, fetch or timers.
agent.go(url)
agent.look(): what can be operated, one "{role}name" locator a line, no texts; then only changes (+ - ~). {full: true} shows all
agent.act(locator, action, value?): click, input, select, check, press, hover, upload, drag...; waits until it can
agent.wait(locator | "!" + locator | "navigation" | "idle" | ms)
agent.text(locator?), agent.value(locator), agent.page(js), agent.screenshot() (an image)
match(actual, expected), Flow.run(path, args), File.list()
Example: agent.go("https://shop.test"); agent.act("{input}Search", "input", "lamp"); agent.act("{button}Go", "click"); agent.look()`,
  inputSchema: {
    type: 'object',
    properties: {
      js: { type: 'string', description: 'the script' },
      sessionId: { type: 'string', description: 'another running session; yours if left out' },
    },
    required: ['js'],
    additionalProperties: false,
  },
  annotations: { destructiveHint: true, openWorldHint: true },
};

/** The same for a client without an MCP session, which names its browser with each call. */
export const STATELESS_EVAL_TOOL: Tool = {
  ...EVAL_TOOL,
  inputSchema: {
    ...EVAL_TOOL.inputSchema,
    properties: {
      js: { type: 'string', description: 'the script' },
      sessionId: { type: 'string', description: 'the one that the first result names; a new browser if left out' },
    },
  },
};
