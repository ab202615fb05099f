import {
  type CallToolRequestParams,
  type CallToolResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { STATELESS_MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import { isEnded } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { checkToolName, readEvalCall } from './eval-arguments.js';
import { STATELESS_EVAL_TOOL } from './eval-tool.js';
import type { McpClient, StatelessPeer } from './mcp-peer.js';
import { browserName } from './own-browser.js';
import { reportProgress } from './progress.js';
import { failureResult } from './result-content.js';
import { answerScript } from './script-answer.js';

type McpRequest = ServerContext['mcpReq'];

interface NamedClient extends McpClient {
  /** The name of its browser sessions. */
  readonly name: string;
}

/** What a result names the browser session by, for programs; models get it as text. */
export const SESSION_META_KEY = 'io.github.troupe/sessionId';

const FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** Shared, because the SDK would create one for each server, at more cost than the rest of the server. */
const validator = new AjvJsonSchemaValidator();

/**
 * Answers clients without MCP sessions, with one tool. A call without `sessionId` starts a browser and returns its session's id,
 * which the client passes with its further calls. The session ends when it is left idle, as any other.
 */
export class StatelessAgent implements StatelessPeer {
  serverFor(client: McpClient): Server {
    const server = new Server(
      { name: 'troupe', title: 'Troupe browser', version: client.sessions.health().version },
      {
        capabilities: { tools: {} },
        instructions: STATELESS_MCP_INSTRUCTIONS,
        jsonSchemaValidator: validator,
        cacheHints: { 'tools/list': FOR_AN_HOUR, 'server/discover': FOR_AN_HOUR },
      },
    );
    server.setRequestHandler('tools/list', () => ({ tools: [STATELESS_EVAL_TOOL] }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const name = browserName(server.getClientVersion());
      return this.#evaluate({ ...client, name }, params, mcpReq);
    });
    return server;
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }

  async #evaluate(
    { sessions, caller, name }: NamedClient,
    params: CallToolRequestParams,
    request: McpRequest,
  ): Promise<CallToolResult> {
    checkToolName(params.name);
    const { signal } = request;
    const progress = reportProgress(sessions, request);
    let started: string | null = null;
    try {
      const { js, sessionId } = readEvalCall(params.arguments);
      if (sessionId === null) started = await startBrowser();
      const id = sessionId ?? started ?? '';
      progress.follow(id);
      const result = await answerScript({ sessions, id, js, signal, advise: () => adviceAfter(sessions, id) });
      return started === null ? result : withHandle(result, started);
    } catch (error) {
      // Nobody will know the browser of a client that has gone.
      if (started !== null && signal.aborted) await sessions.remove(started, false).catch(() => undefined);
      return failureResult(error);
    } finally {
      progress.stop();
    }

    async function startBrowser(): Promise<string> {
      const { id } = await sessions.createLive({ name, labels: { client: 'mcp' } }, { caller, signal });
      return id;
    }
  }
}

/** How a client goes on after a failure in a session that is no more. */
async function adviceAfter(sessions: Sessions, id: string): Promise<string | undefined> {
  const runs = await sessions.get(id).then(
    ({ status }) => !isEnded(status),
    () => false,
  );
  return runs ? undefined : 'Leave sessionId out to get a fresh browser: begin with agent.go';
}

/** Names the browser, for the client's next calls. */
function withHandle(result: CallToolResult, id: string): CallToolResult {
  const text = `sessionId: ${id} (pass it with each further call, which then runs in the same browser)`;
  return {
    ...result,
    content: [...result.content, { type: 'text', text }],
    _meta: { ...result._meta, [SESSION_META_KEY]: id },
  };
}
