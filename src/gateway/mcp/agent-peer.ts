import { buffer } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  McpError,
  ErrorCode as RpcCode,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { EVAL_TOOL, EvalArguments } from './eval-tool.js';
import type { McpClient, McpPeer } from './mcp-peer.js';
import { OwnBrowser } from './own-browser.js';
import { reportProgress } from './progress.js';
import { failureResult, type KnownPage, pageOf, pictureOf, resultText, withConsole } from './result-content.js';
import { watchConsole } from './watch-console.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A larger picture is not sent; the session's artifacts have it. */
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;

/** Shared, because the SDK would create one for each server, at more cost than the rest of the server. */
const validator = new AjvJsonSchemaValidator();

/** Answers an MCP client with one tool, and with a browser session of the client's own from its first script on. */
export class AgentPeer implements McpPeer {
  readonly #sessions: Sessions;
  readonly #server: Server;
  readonly #browser: OwnBrowser;
  /** The last page that the client was told about, and its session. */
  #lastReported: { readonly id: string; readonly page: KnownPage } | undefined;

  constructor(client: McpClient) {
    const { sessions } = client;
    this.#sessions = sessions;
    this.#server = new Server(
      { name: 'troupe', title: 'Troupe browser', version: sessions.health().version },
      { capabilities: { tools: {} }, instructions: MCP_INSTRUCTIONS, jsonSchemaValidator: validator },
    );
    this.#browser = new OwnBrowser(client, () => this.#name());
    this.#server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [EVAL_TOOL] }));
    this.#server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
      if (params.name !== EVAL_TOOL.name) {
        throw new McpError(RpcCode.InvalidParams, `There is no tool ${params.name.slice(0, 100)}; use agent_eval`);
      }
      return this.#evaluate(params.arguments, extra);
    });
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

  async #evaluate(given: unknown, extra: Extra): Promise<CallToolResult> {
    const parsed = EvalArguments.safeParse(given);
    if (!parsed.success) {
      const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
      return { isError: true, content: [{ type: 'text', text: `INVALID_REQUEST: ${issues.join('; ')}` }] };
    }
    const { js, sessionId } = parsed.data;
    const { signal } = extra;
    const isOwn = sessionId === undefined || sessionId === null;
    const progress = reportProgress(this.#sessions, extra);
    try {
      const id = sessionId ?? (await this.#browser.use(signal));
      progress.follow(id);
      return await this.#run(id, js, isOwn, signal);
    } catch (error) {
      return failureResult(error);
    } finally {
      progress.stop();
    }
  }

  async #run(id: string, js: string, isOwn: boolean, signal: AbortSignal): Promise<CallToolResult> {
    const written = watchConsole(this.#sessions, id, js);
    try {
      const json = await this.#sessions.runScript(id, js, signal, { onDisconnect: 'stop' });
      return withConsole(await this.#answer(id, json), await written.text());
    } catch (error) {
      if (signal.aborted) throw error;
      const isLost = isOwn && (await this.#browser.endedDuring(id));
      const advice = isLost ? 'The next call gets a fresh browser: begin with agent.go' : undefined;
      return withConsole(failureResult(error, advice), await written.text());
    } finally {
      written.stop();
    }
  }

  async #answer(id: string, json: string): Promise<CallToolResult> {
    const value: unknown = JSON.parse(json);
    const picture = pictureOf(value);
    const png = picture && (await this.#picture(id, picture.file));
    if (!picture || !png) {
      const text = resultText(value, this.#lastReported?.id === id ? this.#lastReported.page : undefined);
      const page = pageOf(value);
      if (page !== undefined) this.#lastReported = { id, page };
      return { content: [{ type: 'text', text }] };
    }
    const text = `${picture.file}, ${picture.width} x ${picture.height}`;
    return {
      content: [
        { type: 'image', data: png.toString('base64'), mimeType: 'image/png' },
        { type: 'text', text },
      ],
    };
  }

  /** Null if the picture does not exist or is too large for an answer. */
  async #picture(id: string, file: string): Promise<Buffer | null> {
    try {
      const { bytes, stream } = await this.#sessions.artifacts.screenshot(id, file);
      if (bytes <= MAX_PICTURE_BYTES) return await buffer(stream);
      stream.destroy();
      return null;
    } catch {
      return null;
    }
  }

  #name(): string {
    const client = this.#server.getClientVersion();
    return `MCP: ${(client?.title ?? client?.name) || 'a client'}`.slice(0, 200);
  }
}
