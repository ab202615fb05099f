import {
  type CallToolRequestParams,
  type CallToolResult,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import { onAbort } from '../../base/deadline.js';
import { type Handoff, MAX_HANDOFF_MS } from '../../protocol/person/handoff.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { boundedAnswer } from './answer-size.js';
import { checkToolName, readEvalCall } from './eval-arguments.js';
import { EVAL_TOOL } from './eval-tool.js';
import { HandoffCalls, hasForms, joined, notRun } from './handoff-call.js';
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
  readonly #handoffs: HandoffCalls;
  #lastReport: LastReport | undefined;

  constructor(client: McpClient) {
    const { sessions } = client;
    this.#sessions = sessions;
    this.#server = new Server(
      { name: PRODUCT_NAME, title: 'Troupe browser', version: sessions.health().version },
      { capabilities: { tools: {} }, instructions: MCP_INSTRUCTIONS, jsonSchemaValidator: validator },
    );
    this.#handoffs = new HandoffCalls(client, new Map());
    this.#browser = new OwnBrowser(client, () => browserName(this.#server.getClientVersion()));
    this.#server.setRequestHandler('tools/list', () => ({ tools: [EVAL_TOOL] }));
    this.#server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) =>
      boundedAnswer(await this.#evaluate(params, mcpReq)),
    );
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
      const before = await this.#handoffs.before(id);
      if (before?.kind === 'waiting') return await this.#handoffs.waiting(id, before.handoff);
      if (before?.result.isError) return notRun(before.result);
      // It may outlive its call, if it waits for a person.
      const stopped = new AbortController();
      const unlink = onAbort(signal, () => stopped.abort(signal.reason));
      const script = answerScript({
        sessions: this.#sessions,
        id,
        js,
        signal: stopped.signal,
        known: this.#lastReport,
        onPage: (report) => {
          this.#lastReport = report;
        },
        advise: async () => {
          const isLost = sessionId === null && (await this.#browser.endedDuring(id));
          return isLost ? 'The next call gets a fresh browser: begin with agent.go' : undefined;
        },
      });
      const result = await this.#withPerson(id, script.catch(failureResult), request).finally(unlink);
      return before === null ? result : joined(before.result, result);
    } catch (error) {
      return failureResult(error);
    } finally {
      progress.stop();
    }
  }

  /** The script's result. If the script waits for a person, the client asks them, or gets to know where they can answer. */
  async #withPerson(
    id: string,
    result: Promise<CallToolResult>,
    request: ServerContext['mcpReq'],
  ): Promise<CallToolResult> {
    for (;;) {
      const state = await this.#handoffs.settled(id, result);
      if (state.kind === 'result') return state.result;
      const isAnswered =
        hasForms(this.#server.getClientCapabilities()) && (await this.#ask(id, state.handoff, request));
      if (isAnswered) continue;
      this.#handoffs.leave(id, result);
      return await this.#handoffs.waiting(id, state.handoff);
    }
  }

  /** Asks the person by a form of the client. False if they closed it without an answer. */
  async #ask(id: string, handoff: Handoff, { signal, elicitInput }: ServerContext['mcpReq']): Promise<boolean> {
    const { connections } = this.#sessions;
    const over = new AbortController();
    const unlink = onAbort(signal, () => over.abort(signal.reason));
    // It may be answered on the session's page, or time out: the client then closes its form.
    const ended = connections.handoffEnded(id, handoff.id, over.signal).then(() => over.abort());
    try {
      const form = await this.#handoffs.form(id, handoff);
      const given = await elicitInput(form, { signal: over.signal, timeout: MAX_HANDOFF_MS });
      await this.#handoffs.answer(id, handoff.id, given);
      return given.action !== 'cancel';
    } catch {
      return over.signal.aborted;
    } finally {
      unlink();
      over.abort();
      await ended.catch(() => undefined);
    }
  }
}
