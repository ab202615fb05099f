import {
  type CallToolRequestParams,
  type CallToolResult,
  type ClientCapabilities,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { z } from 'zod';
import { STATELESS_MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import { settlesWithin } from '../../base/deadline.js';
import { isEnded } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { checkToolName, readEvalCall } from './eval-arguments.js';
import { STATELESS_EVAL_TOOL } from './eval-tool.js';
import type { McpClient, StatelessPeer } from './mcp-peer.js';
import { SESSION_META_KEY } from './mcp-revisions.js';
import { browserName } from './own-browser.js';
import { type Progress, reportProgress } from './progress.js';
import { failureResult } from './result-content.js';
import { answerScript } from './script-answer.js';
import { TaskStore } from './task-store.js';

type McpRequest = ServerContext['mcpReq'];

interface ScriptClient extends McpClient {
  /** The name of its browser sessions. */
  readonly name: string;
  readonly takesTasks: boolean;
}

const FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: 'public' } as const;
const TASKS = 'io.modelcontextprotocol/tasks';
/** A call that takes longer becomes a task, if its client takes them. */
const TASK_AFTER_MS = 20_000;

const OneTask = z.object({ taskId: z.string() });

/** Shared, because the SDK would create one for each server, at more cost than the rest of the server. */
const validator = new AjvJsonSchemaValidator();

/**
 * Answers clients without MCP sessions, with one tool. A call without `sessionId` starts a browser and returns its session's id,
 * which the client passes with its further calls. The session ends when it is left idle, as any other.
 */
export class StatelessAgent implements StatelessPeer {
  readonly #tasks = new TaskStore();
  readonly #taskAfterMs: number;

  /** @param options.taskAfterMs when a call becomes a task, in milliseconds; 20 s by default */
  constructor({ taskAfterMs = TASK_AFTER_MS }: { readonly taskAfterMs?: number } = {}) {
    this.#taskAfterMs = taskAfterMs;
  }

  serverFor(client: McpClient): Server {
    const { sessions, caller } = client;
    const server = new Server(
      { name: 'troupe', title: 'Troupe browser', version: sessions.health().version },
      {
        capabilities: { tools: {}, extensions: { [TASKS]: {} } },
        instructions: STATELESS_MCP_INSTRUCTIONS,
        jsonSchemaValidator: validator,
        cacheHints: { 'tools/list': FOR_AN_HOUR, 'server/discover': FOR_AN_HOUR },
      },
    );
    server.setRequestHandler('tools/list', () => ({ tools: [STATELESS_EVAL_TOOL] }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const name = browserName(server.getClientVersion());
      const takesTasks = hasTasks(server.getClientCapabilities());
      return this.#call({ ...client, name, takesTasks }, params, mcpReq);
    });
    server.setRequestHandler('tasks/get', { params: OneTask }, ({ taskId }) => this.#tasks.view(caller, taskId));
    server.setRequestHandler('tasks/cancel', { params: OneTask }, ({ taskId }) => {
      this.#tasks.cancel(caller, taskId);
      return {};
    });
    // No task asks for anything, so there is nothing that an update could answer.
    server.setRequestHandler('tasks/update', { params: OneTask }, ({ taskId }) => {
      this.#tasks.view(caller, taskId);
      return {};
    });
    return server;
  }

  close(): Promise<void> {
    return this.#tasks.close();
  }

  async #call(client: ScriptClient, params: CallToolRequestParams, request: McpRequest): Promise<CallToolResult> {
    checkToolName(params.name);
    const { signal } = request;
    const stopped = new AbortController();
    const stop = () => stopped.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const progress = reportProgress(client.sessions, request);
    const result = evaluate(client, params.arguments, progress, stopped.signal);
    try {
      if (!client.takesTasks || (await settlesWithin(result, this.#taskAfterMs))) return await result;
      const task = this.#tasks.add(client.caller, { result, stop: () => stopped.abort() });
      if (task === null) return await result;
      // The result type of the extension; this is no result of the tool.
      return { content: [], ...task, resultType: 'task' };
    } finally {
      // A task outlives the connection.
      signal.removeEventListener('abort', stop);
      progress.stop();
    }
  }
}

async function evaluate(
  { sessions, caller, name }: ScriptClient,
  given: unknown,
  progress: Progress,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let started: string | null = null;
  try {
    const { js, sessionId } = readEvalCall(given);
    if (sessionId === null) {
      const record = await sessions.createLive({ name, labels: { client: 'mcp' } }, { caller, signal });
      started = record.id;
    }
    const id = sessionId ?? started ?? '';
    progress.follow(id);
    const result = await answerScript({ sessions, id, js, signal, advise: () => adviceAfter(sessions, id) });
    return started === null ? result : withHandle(result, started);
  } catch (error) {
    // Nobody will know the browser of a client that has gone.
    if (started !== null && signal.aborted) await sessions.remove(started, false).catch(() => undefined);
    return failureResult(error);
  }
}

function hasTasks(capabilities: ClientCapabilities | undefined): boolean {
  return Object.hasOwn(capabilities?.extensions ?? {}, TASKS);
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
