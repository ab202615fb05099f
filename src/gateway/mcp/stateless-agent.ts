import {
  type CallToolRequestParams,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  isInputRequiredResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { z } from 'zod';
import { STATELESS_MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import { settlesWithin, unstretched } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { Handoff } from '../../protocol/person/handoff.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import { isEnded } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { boundedAnswer } from './answer-size.js';
import { checkToolName, readEvalCall } from './eval-arguments.js';
import { STATELESS_EVAL_TOOL } from './eval-tool.js';
import {
  HandoffCalls,
  HandoffState,
  handoffCodec,
  hasForms,
  joined,
  notRun,
  type RunningScript,
} from './handoff-call.js';
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
  readonly capabilities: ClientCapabilities | undefined;
  /** The call has become a task: its client no longer waits for an answer to ask a person by. */
  isTask(): boolean;
}

/** What a script runs in. */
interface ScriptBounds {
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly handoffs: HandoffCalls;
}

type ToolAnswer = CallToolResult | InputRequiredResult;

const LOST =
  'The script that waited for a person is gone: the service was restarted, or its result was kept for ten minutes only';

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
  /** Scripts that wait for a person, or have, after their call was answered. */
  readonly #left = new Map<string, RunningScript>();

  /** @param options.taskAfterMs when a call becomes a task, in milliseconds; 20 s by default */
  constructor({ taskAfterMs = TASK_AFTER_MS }: { readonly taskAfterMs?: number } = {}) {
    this.#taskAfterMs = taskAfterMs;
  }

  serverFor(client: McpClient): Server {
    const { sessions, caller } = client;
    const server = new Server(
      { name: PRODUCT_NAME, title: 'Troupe browser', version: sessions.health().version },
      {
        capabilities: { tools: {}, extensions: { [TASKS]: {} } },
        instructions: STATELESS_MCP_INSTRUCTIONS,
        jsonSchemaValidator: validator,
        requestState: { verify: handoffCodec.verify },
        cacheHints: { 'tools/list': FOR_AN_HOUR, 'server/discover': FOR_AN_HOUR },
      },
    );
    server.setRequestHandler('tools/list', () => ({ tools: [STATELESS_EVAL_TOOL] }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const name = browserName(server.getClientVersion());
      const capabilities = server.getClientCapabilities();
      let isTask = false;
      const becomesTask = () => {
        isTask = true;
      };
      const scriptClient = { ...client, name, takesTasks: hasTasks(capabilities), capabilities, isTask: () => isTask };
      return this.#call(scriptClient, params, mcpReq, becomesTask);
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

  async #call(
    client: ScriptClient,
    params: CallToolRequestParams,
    request: McpRequest,
    becomesTask: () => void,
  ): Promise<ToolAnswer> {
    checkToolName(params.name);
    const { signal } = request;
    const stopped = new AbortController();
    const stop = () => stopped.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const progress = reportProgress(client.sessions, request);
    const handoffs = new HandoffCalls(client, this.#left);
    const bounds = { progress, signal: stopped.signal, handoffs };
    const answer = evaluate(client, params.arguments, request, bounds).then((given) =>
      isInputRequiredResult(given) ? given : boundedAnswer(given),
    );
    try {
      if (!client.takesTasks || (await settlesWithin(answer, unstretched(this.#taskAfterMs)))) return await answer;
      becomesTask();
      const result = answer.then((given) => (isInputRequiredResult(given) ? { content: [] } : given));
      const task = this.#tasks.add(client.caller, { result, stop: () => stopped.abort() });
      if (task === null) return await answer;
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
  client: ScriptClient,
  given: unknown,
  request: McpRequest,
  { progress, signal, handoffs }: ScriptBounds,
): Promise<ToolAnswer> {
  const { sessions, caller, name } = client;
  const answered = HandoffState.safeParse(request.requestState());
  if (answered.success) return await goOn(client, answered.data, request, handoffs);
  let started: string | null = null;
  try {
    const { js, sessionId } = readEvalCall(given);
    if (sessionId === null) {
      const record = await sessions.createLive({ name, labels: { client: 'mcp' } }, { caller, signal });
      started = record.id;
    }
    const id = sessionId ?? started ?? '';
    progress.follow(id);
    const before = await handoffs.before(id);
    if (before?.kind === 'waiting') return await handoffs.waiting(id, before.handoff);
    if (before?.result.isError) return notRun(before.result);
    const call = { sessions, id, js, signal, advise: () => adviceAfter(sessions, id) };
    const script = answerScript(call).catch((error: unknown) => failureResult(error));
    const state = await handoffs.settled(id, script);
    if (state.kind === 'waiting')
      return await leave(client, { id, started: started !== null }, script, state.handoff, handoffs);
    signal.throwIfAborted();
    const result = before === null ? state.result : joined(before.result, state.result);
    return started === null ? result : withHandle(result, started);
  } catch (error) {
    // Nobody will know the browser of a client that has gone.
    if (started !== null && signal.aborted) await sessions.remove(started, false).catch(() => undefined);
    return failureResult(error);
  }
}

/** The answer for a script that waits for a person: the client asks them, or gets to know where they can answer. */
async function leave(
  { capabilities, isTask }: ScriptClient,
  { id, started }: Pick<HandoffState, 'id' | 'started'>,
  script: Promise<CallToolResult>,
  handoff: Handoff,
  handoffs: HandoffCalls,
): Promise<ToolAnswer> {
  handoffs.leave(id, script);
  if (isTask() || !hasForms(capabilities)) {
    const result = await handoffs.waiting(id, handoff);
    return started ? withHandle(result, id) : result;
  }
  return inputRequired({
    inputRequests: { handoff: inputRequired.elicit(await handoffs.form(id, handoff)) },
    requestState: await handoffCodec.mint({ id, handoff: handoff.id, started }),
  });
}

/** The client sends a person's answer, and waits for the script's result. */
async function goOn(
  client: ScriptClient,
  { id, handoff, started }: HandoffState,
  { inputResponses }: McpRequest,
  handoffs: HandoffCalls,
): Promise<ToolAnswer> {
  const script = handoffs.take(id);
  if (script === null) return failureResult(new TroupeError('SESSION_RESTARTED', LOST));
  const response = inputResponse(inputResponses, 'handoff');
  const isAnswered = response.kind === 'elicit' && response.action !== 'cancel';
  if (isAnswered) await handoffs.answer(id, handoff, response);
  const state = await handoffs.settled(id, script.result);
  if (state.kind === 'waiting') {
    if (isAnswered) return await leave(client, { id, started }, script.result, state.handoff, handoffs);
    handoffs.leave(id, script.result);
  }
  const result = state.kind === 'result' ? state.result : await handoffs.waiting(id, state.handoff);
  return started ? withHandle(result, id) : result;
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
