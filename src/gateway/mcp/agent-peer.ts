import {
  type CallToolRequestParams,
  type CallToolResult,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { checkToolName, readEvalCall } from './eval-arguments.js';
import { EVAL_TOOL } from './eval-tool.js';
import type { McpClient, McpPeer } from './mcp-peer.js';
import { browserName, OwnBrowser } from './own-browser.js';
import { reportProgress } from './progress.js';
import { failureResult } from './result-content.js';
import { answerScript, type LastReport } from './script-answer.js';

/** Shared, because the SDK would create one for each server, at more cost than the rest of the server. */
const validator = new AjvJsonSchemaValidator();

/** Answers an MCP client with one tool, and with a browser session of the client's own from its first script on. */
export class AgentPeer implements McpPeer {
  readonly #sessions: Sessions;
  readonly #server: Server;
  readonly #browser: OwnBrowser;
  #lastReport: LastReport | undefined;

  constructor(client: McpClient) {
    const { sessions } = client;
    this.#sessions = sessions;
    this.#server = new Server(
      { name: 'troupe', title: 'Troupe browser', version: sessions.health().version },
      { capabilities: { tools: {} }, instructions: MCP_INSTRUCTIONS, jsonSchemaValidator: validator },
    );
    this.#browser = new OwnBrowser(client, () => browserName(this.#server.getClientVersion()));
    this.#server.setRequestHandler('tools/list', () => ({ tools: [EVAL_TOOL] }));
    this.#server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => this.#evaluate(params, mcpReq));
  }

  connect(transport: Transport): Promise<void> {
    return this.#server.connect(transport);
  }

  suspend(): void {
    this.#browser.release('its client was disconnected');
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  async #evaluate(params: CallToolRequestParams, request: ServerContext['mcpReq']): Promise<CallToolResult> {
    checkToolName(params.name);
    const { signal } = request;
    const progress = reportProgress(this.#sessions, request);
    try {
      const { js, sessionId } = readEvalCall(params.arguments);
      const id = sessionId ?? (await this.#browser.use(signal));
      progress.follow(id);
      return await answerScript({
        sessions: this.#sessions,
        id,
        js,
        signal,
        known: this.#lastReport,
        onPage: (report) => {
          this.#lastReport = report;
        },
        advise: async () => {
          const isLost = sessionId === null && (await this.#browser.endedDuring(id));
          return isLost ? 'The next call gets a fresh browser: begin with agent.go' : undefined;
        },
      });
    } catch (error) {
      return failureResult(error);
    } finally {
      progress.stop();
    }
  }
}
