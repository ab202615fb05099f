import { randomBytes } from 'node:crypto';
import {
  type CallToolResult,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitRequestFormParams,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { settlesWithin, unstretched } from '../../base/deadline.js';
import { type Handoff, MAX_HANDOFF_MS } from '../../protocol/person/handoff.js';
import type { McpClient } from './mcp-peer.js';

/** A call that follows one which was answered while its script waits for a person waits so long for that script. */
const GO_ON_MS = 20_000;
/** The result of a script whose client does not come back is kept so long. */
const KEPT_MS = 10 * 60_000;
const MAX_NOTE = 1_000;

const NOTE = {
  type: 'string',
  title: 'Note',
  description: 'What the script gets to know',
  maxLength: MAX_NOTE,
} as const;

/** What a client sends back with a person's answer (revision 2026-07-28). */
export const HandoffState = z.object({ id: z.string(), handoff: z.string(), started: z.boolean() });
export type HandoffState = z.infer<typeof HandoffState>;

/** Signs {@link HandoffState}. Of this process: the scripts that wait do not outlive it either. */
export const handoffCodec = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: MAX_HANDOFF_MS / 1000 });

/** A script of a client that runs, or whose result the client does not have yet. */
export interface RunningScript {
  readonly result: Promise<CallToolResult>;
}

/** What a client sends when its form was answered, or closed. */
export interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: { readonly [field: string]: unknown } | undefined;
}

/** What a script has come to. */
export type ScriptState =
  | { readonly kind: 'result'; readonly result: CallToolResult }
  /** It waits for a person. */
  | { readonly kind: 'waiting'; readonly handoff: Handoff };

/**
 * Calls whose script waits for a person (`agent.handoff`). A client that has forms asks the person itself. Others get an answer
 * that says where the person can do it, and their next call in the same session begins with the script's result.
 */
export class HandoffCalls {
  readonly #client: McpClient;
  /** Scripts whose call was answered before they ended, by session. */
  readonly #left: Map<string, RunningScript>;

  /** @param left shared by all requests of the same client */
  constructor(client: McpClient, left: Map<string, RunningScript>) {
    this.#client = client;
    this.#left = left;
  }

  /** Resolves when the script has ended, or waits for a person. */
  async settled(id: string, result: Promise<CallToolResult>): Promise<ScriptState> {
    const over = new AbortController();
    const handoff = this.#client.sessions.connections
      .nextHandoff(id, over.signal)
      .then((open): ScriptState => ({ kind: 'waiting', handoff: open }))
      // The session has ended, and with it the script.
      .catch(() => result.then((ended): ScriptState => ({ kind: 'result', result: ended })));
    try {
      return await Promise.race([result.then((ended): ScriptState => ({ kind: 'result', result: ended })), handoff]);
    } finally {
      over.abort();
    }
  }

  /** Keeps the result of a script for the client's next call in its session. */
  leave(id: string, result: Promise<CallToolResult>): void {
    const script = { result };
    this.#left.set(this.#key(id), script);
    const forget = () => {
      if (this.#left.get(this.#key(id)) === script) this.#left.delete(this.#key(id));
    };
    void result.finally(() => setTimeout(forget, KEPT_MS).unref());
  }

  /** The script of the session that was left; its result is then no longer kept. */
  take(id: string): RunningScript | null {
    const script = this.#left.get(this.#key(id)) ?? null;
    this.#left.delete(this.#key(id));
    return script;
  }

  /**
   * For a further call in a session: what the script before came to. Null if there is none. `waiting`: it still waits, so
   * that the new script cannot run yet.
   */
  async before(id: string): Promise<ScriptState | null> {
    const script = this.#left.get(this.#key(id));
    if (script === undefined) return null;
    if (!(await settlesWithin(script.result, unstretched(GO_ON_MS)))) {
      const handoff = await this.#open(id);
      if (handoff !== undefined) return { kind: 'waiting', handoff };
    }
    this.take(id);
    return { kind: 'result', result: await script.result };
  }

  /** Passes a person's answer on. One that comes too late changes nothing: the script's result says what happened. */
  async answer(id: string, handoff: string, { action, content }: FormAnswer): Promise<void> {
    if (action === 'cancel') return;
    const note =
      typeof content?.note === 'string' && content.note !== '' ? { note: content.note.slice(0, MAX_NOTE) } : {};
    const given = { answer: action === 'accept' ? 'done' : 'refused', handoff, ...note } as const;
    await this.#client.sessions.connections.answerHandoff(id, given, 'mcp').catch(() => undefined);
  }

  /** The form that the client shows to the person. */
  async form(id: string, { text }: Handoff): Promise<ElicitRequestFormParams> {
    const message = `${text}\n\nThe browser: ${await this.#address(id)}\nAccept when it is done.`;
    return { mode: 'form', message, requestedSchema: { type: 'object', properties: { note: NOTE } } };
  }

  /** The answer to a client that cannot ask the person. */
  async waiting(id: string, { text, expiresAt }: Handoff): Promise<CallToolResult> {
    const lines = [
      `The script waits for a person, until ${expiresAt}: ${JSON.stringify(text)}`,
      `Ask the user to open ${await this.#address(id)} and to press Done or Refuse there.`,
      'Then call agent_eval again, with agent.look() say: its answer begins with the result of this script.',
    ];
    return { content: [{ type: 'text', text: lines.join('\n') }] };
  }

  async #open(id: string): Promise<Handoff | undefined> {
    const record = await this.#client.sessions.get(id).catch(() => null);
    return record?.handoff;
  }

  async #address(id: string): Promise<string> {
    const { links } = await this.#client.sessions.get(id);
    return new URL(links.view, this.#client.base).href;
  }

  #key(id: string): string {
    return `${this.#client.caller} ${id}`;
  }
}

/** The result of the script before, and the one of the script of this call. */
export function joined(before: CallToolResult, result: CallToolResult): CallToolResult {
  return { ...result, content: [...before.content, ...result.content] };
}

/** The script before has failed: this call's script was not run. */
export function notRun(failed: CallToolResult): CallToolResult {
  const text = 'This is the result of the script that waited for a person. The script of this call was not run.';
  return { ...failed, content: [...failed.content, { type: 'text', text }] };
}

/** Whether the client shows forms to a person. */
export function hasForms(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
