import type { Test } from 'tap';
import { type Conversation, converse, EMPTY_CONVERSATION } from '#troupe/autonomy/conversation.js';
import { ConversationRecord } from '#troupe/autonomy/conversation-record.js';
import type { Budget } from '#troupe/autonomy/judge.js';
import { Loop, type ModelEnvironment, type TaskEnd } from '#troupe/autonomy/loop.js';
import { Model, type ModelBounds } from '#troupe/autonomy/model.js';
import { ModelCaller } from '#troupe/autonomy/model-caller.js';
import { encodeError } from '#troupe/protocol/errors.js';
import type { EventData, EventType, SessionEvent } from '#troupe/protocol/events.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { openAgent, openBrowser, openSite, type Site } from '../support/agent-fixture.js';
import { type ModelScript, type ModelServer, startModelServer } from '../support/model-server.js';

/** What may be different about one conversation. */
export interface LoopOptions {
  readonly bounds?: Partial<ModelBounds>;
  readonly budget?: Partial<Budget>;
  readonly apiKey?: string | null;
  /** Scripts of the models to fall back on. */
  readonly fallbacks?: readonly ModelScript[];
  readonly server?: { readonly apiKey?: string; readonly refuses?: string };
  readonly known?: Conversation;
  readonly task?: string;
  /** Where the model is, in place of its own server. */
  readonly baseURL?: (server: ModelServer) => Promise<string>;
  /** Aborted at the first event of the type. */
  readonly abortAt?: EventType;
}

export interface LoopRun {
  readonly end: TaskEnd | { readonly thrown: ReturnType<typeof encodeError> };
  readonly model: ModelServer;
  readonly servers: readonly ModelServer[];
  readonly events: readonly SessionEvent[];
  /** Waits between tries, in milliseconds; they were not waited. */
  readonly waits: readonly number[];
  readonly conversation: Conversation;
  told<T extends EventType>(type: T): EventData<T>[];
  /** What the model received last before its answer of that number (from 0). */
  heard(index: number): string;
}

/** A real browser and a real sandbox, in which scripted models work one after another. */
export async function openLoops(
  t: Test,
): Promise<{ readonly site: Site; run(script: ModelScript, options?: LoopOptions): Promise<LoopRun> }> {
  const site = await openSite(t);
  const { agent } = await openAgent(t, await openBrowser(t));
  const sandbox = await Sandbox.start({ modules: [agent.module], emit: () => undefined });
  t.teardown(() => sandbox.close());
  const workplace: ModelEnvironment = {
    async evaluate(js, signal) {
      try {
        const json = await sandbox.run({ source: js, name: 'model.js', kind: 'model', timeoutMs: 20_000, signal });
        return { end: { kind: 'result', json }, console: [] };
      } catch (error) {
        return { end: { kind: 'error', error: encodeError(error) }, console: [] };
      }
    },
    resumeFlow: async () => ({ end: { kind: 'result', json: '"resumed"' }, console: [] }),
    waitForControl: async () => 0,
    look: (signal) => agent.see({ deadline: performance.now() + 60_000, signal }),
  };
  const run = async (script: ModelScript, options: LoopOptions = {}) => {
    // Each begins with the same page.
    await workplace.evaluate(`agent.go('about:blank')`, new AbortController().signal);
    return runLoop(t, workplace, script, options);
  };
  return { site, run };
}

async function runLoop(
  t: Test,
  workplace: ModelEnvironment,
  script: ModelScript,
  options: LoopOptions,
): Promise<LoopRun> {
  const { bounds, budget, apiKey = null, fallbacks = [], known = EMPTY_CONVERSATION } = options;
  const servers: ModelServer[] = [];
  for (const one of [script, ...fallbacks]) servers.push(await startModelServer(t, one, options.server));
  const models: Model[] = [];
  for (const [index, server] of servers.entries()) {
    const id = `scripted/m${index}`;
    const baseURL = (await options.baseURL?.(server)) ?? server.baseURL;
    const choice = { id, provider: 'scripted', name: `m${index}`, baseURL, apiKeyEnv: null, apiKey };
    models.push(new Model(choice, { answerMs: 20_000, silenceMs: 10_000, ...bounds }));
  }
  const [model] = servers;
  if (model === undefined) throw new Error('No model');
  const events: SessionEvent[] = [];
  const waits: number[] = [];
  const aborting = new AbortController();
  const record = new ConversationRecord(known, (event) => {
    events.push(event);
    if (event.type === options.abortAt) aborting.abort(new Error('given up'));
  });
  const caller = new ModelCaller({
    models,
    emit: record.emit,
    clock: {
      now: () => performance.now(),
      sleep: async (ms, signal) => {
        waits.push(ms);
        signal.throwIfAborted();
      },
      random: () => 0.5,
    },
  });
  const loop = new Loop({
    record,
    caller,
    environment: workplace,
    budget: { maxIterations: 25, maxTokens: null, ...budget },
    recorded: async () => undefined,
  });
  const opening = async () => ({ model: 'scripted/m0', system: 'SYSTEM', task: options.task ?? 'TASK' });
  const end = await loop.run({ opening }, aborting.signal).catch((error: unknown) => ({ thrown: encodeError(error) }));
  return {
    end,
    model,
    servers,
    events,
    waits,
    conversation: record.conversation,
    told: <T extends EventType>(type: T) =>
      events.filter((event) => event.type === type).map((event) => event.data as EventData<T>),
    heard: (index) => model.requests[index]?.body.messages.at(-1)?.content ?? '',
  };
}

/** The conversation that events make, as a service that starts again has it. */
export function folded(events: readonly SessionEvent[]): Conversation {
  return events.reduce(converse, EMPTY_CONVERSATION);
}
