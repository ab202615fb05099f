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
import { inMinutes } from '../../agent-js/prompt/session-document.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { EvalArguments } from './eval-arguments.js';
import { EVAL_TOOL } from './eval-tool.js';
import type { McpClient, McpPeer } from './mcp-peer.js';
import { OwnBrowser } from './own-browser.js';
import { reportProgress } from './progress.js';
import {
  failureResult,
  type KnownPage,
  type Picture,
  pageOf,
  pictureOf,
  resultText,
  withConsole,
} from './result-content.js';
import { watchScript } from './watch-script.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A larger picture is not sent; the session's artifacts have it. */
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;
/** Nor are those of one answer beyond this together. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

/** From so long before its end on, each answer says when the session ends. */
const LAST_MINUTES_MS = 5 * 60_000;

/** Shared, because the SDK would create one for each server, at more cost than the rest of the server. */
const validator = new AjvJsonSchemaValidator();

/** Answers an MCP client with one tool, and with a browser session of the client's own from its first script on. */
export class AgentPeer implements McpPeer {
  readonly #sessions: Sessions;
  readonly #server: Server;
  readonly #browser: OwnBrowser;
  /** The page that the client's last result named, and its session. */
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
    const left = watchScript(this.#sessions, id, js);
    try {
      const json = await this.#sessions.runScript(id, js, signal, { onDisconnect: 'stop' });
      const answer = withConsole(await this.#answer(id, json, await left.pictures()), await left.text());
      return this.#announceEnd(id, answer);
    } catch (error) {
      if (signal.aborted) throw error;
      const isLost = isOwn && (await this.#browser.endedDuring(id));
      const advice = isLost ? 'The next call gets a fresh browser: begin with agent.go' : undefined;
      const failure = failureResult(error, advice);
      const { content } = await this.#pictures(id, await left.pictures());
      return withConsole({ ...failure, content: [...content, ...failure.content] }, await left.text());
    } finally {
      left.stop();
    }
  }

  async #answer(id: string, json: string, taken: readonly Picture[]): Promise<CallToolResult> {
    const value: unknown = JSON.parse(json);
    const picture = pictureOf(value);
    const isTaken = picture !== null && taken.some(({ file }) => file === picture.file);
    const { content, sent } = await this.#pictures(id, picture === null || isTaken ? taken : [...taken, picture]);
    // A picture says more than its name.
    if (picture !== null && sent.has(picture.file)) return { content };
    const text = resultText(value, this.#lastReported?.id === id ? this.#lastReported.page : undefined);
    const page = pageOf(value);
    if (page !== undefined) this.#lastReported = { id, page };
    return { content: [...content, { type: 'text', text }] };
  }

  /** Says that the session's time is nearly over, while there is time to finish. */
  #announceEnd(id: string, result: CallToolResult): CallToolResult {
    const { hardMs } = this.#sessions.timeLeft(id) ?? { hardMs: Number.POSITIVE_INFINITY };
    if (hardMs > LAST_MINUTES_MS) return result;
    const text = `This browser session ends in ${inMinutes(hardMs)}: finish, and keep what you need`;
    return { ...result, content: [...result.content, { type: 'text', text }] };
  }

  /** Each picture and its name, in their order; `sent` are those that are there and not too large. */
  async #pictures(id: string, pictures: readonly Picture[]) {
    const content: CallToolResult['content'] = [];
    const sent = new Set<string>();
    let bytes = 0;
    for (const { file, width, height } of pictures) {
      const png = bytes < MAX_ANSWER_BYTES ? await this.#picture(id, file) : null;
      bytes += png?.length ?? 0;
      if (png !== null && bytes <= MAX_ANSWER_BYTES) {
        content.push({ type: 'image', data: png.toString('base64'), mimeType: 'image/png' });
        sent.add(file);
      }
      const where = sent.has(file) ? '' : ' (too large to send; it is in the artifacts)';
      content.push({ type: 'text', text: `${file}, ${width} x ${height}${where}` });
    }
    return { content, sent };
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
