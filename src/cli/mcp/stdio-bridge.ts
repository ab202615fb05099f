import type { Readable, Writable } from 'node:stream';
import { MCP_INSTRUCTIONS } from '../../agent-js/prompt/mcp-instructions.js';
import { settlesWithin } from '../../base/deadline.js';
import { linesOf } from '../../base/lines.js';
import { printableJson } from '../../base/plain-text.js';
import { sentenceOf } from '../../base/system-fault.js';
import { EVAL_TOOL } from '../../gateway/mcp/eval-tool.js';
import { MCP_REVISIONS } from '../../gateway/mcp/mcp-revisions.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import { asMessage, failure, RPC_CODES, type RpcId, type RpcMessage, requestId, rpcError, rpcResult } from './rpc.js';
import { answerLocally, namedRevision } from './stateless-answers.js';
import type { StatelessUpstream } from './stateless-upstream.js';
import type { Upstream } from './upstream.js';

/** Requests at once; the service allows as many to one client. */
const MAX_OPEN = 100;
/** The longest line: the service takes no longer message. */
const MAX_LINE_CHARS = 2 * 1024 * 1024;
/** Clients of the SDK end the connection at a line of 10,485,760 bytes, counted with the beginning of the next one. */
const MAX_SENT_BYTES = 10_400_000;
/** Answers that are still to come when the input ends. */
const DRAIN_MS = 2_000;

/**
 * Passes messages between a client on a pair of streams and the service. `initialize`, `server/discover`, `tools/list` and `ping`
 * are answered here: many clients start their servers only to see what they offer, and wait a few seconds for it. The service is found, or
 * started, for the first other request.
 */
export class StdioBridge {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #upstream: Upstream;
  readonly #stateless: StatelessUpstream;
  readonly #version: string;
  readonly #open = new Map<RpcId, AbortController>();
  readonly #work = new Set<Promise<void>>();
  #closed = false;

  constructor(parts: {
    readonly input: Readable;
    readonly output: Writable;
    readonly upstream: Upstream;
    /** For requests of the revision without sessions. */
    readonly stateless: StatelessUpstream;
    readonly version: string;
  }) {
    this.#input = parts.input;
    this.#output = parts.output;
    this.#upstream = parts.upstream;
    this.#stateless = parts.stateless;
    this.#version = parts.version;
    this.#upstream.onMessage = (message) => this.#send(message);
  }

  /** Settles at the end of the input, when the open requests are answered or 2 s have passed, or if nobody reads the output. */
  async run(): Promise<void> {
    const unread = new Promise<void>((resolve) => this.#output.once('error', () => resolve()).once('close', resolve));
    await Promise.race([this.#read(), unread]);
    await settlesWithin(Promise.all(this.#work), DRAIN_MS);
  }

  /** Stops the open requests and ends the session at the service, with its browser. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const open of this.#open.values()) open.abort();
    await Promise.all([this.#upstream.close(), this.#stateless.close()]);
  }

  async #read(): Promise<void> {
    for await (const line of linesOf(this.#input, { maxChars: MAX_LINE_CHARS })) {
      if (line?.trim() === '') continue;
      const parsed = line === null ? undefined : parsedLine(line);
      // Revision 2025-03-26 has batches; their answers may come one by one.
      const messages = (Array.isArray(parsed) ? parsed : [parsed]).map(asMessage);
      for (const message of messages) {
        if (message === null) this.#send(rpcError(null, RPC_CODES.parse, 'This line is not a JSON-RPC message'));
        else this.#take(message);
      }
    }
  }

  #take(message: RpcMessage): void {
    const id = requestId(message);
    if (id === null) {
      if (message.method === 'notifications/initialized') return;
      // Without a session there is nobody whom another notification could reach.
      if (namedRevision(message) !== null && message.method !== 'notifications/cancelled') return;
      if (message.method === 'notifications/cancelled') this.#cancel(Reflect.get(Object(message.params), 'requestId'));
      else this.#track(this.#upstream.notify(message).catch(() => undefined));
      return;
    }
    const local = namedRevision(message) === null ? null : answerLocally(id, message, this.#version);
    if (local !== null) this.#send(local);
    else if (message.method === 'ping') this.#send(rpcResult(id, {}));
    else if (message.method === 'initialize') this.#initialize(id, message);
    else if (message.method === 'tools/list') this.#send(rpcResult(id, { tools: [EVAL_TOOL] }));
    else if (this.#open.has(id)) this.#send(rpcError(id, RPC_CODES.invalid, 'A request with this id is open'));
    else if (this.#open.size >= MAX_OPEN) {
      this.#send(
        rpcError(id, RPC_CODES.connection, `At most ${MAX_OPEN} requests can be open; wait for some responses`),
      );
    } else this.#track(this.#forward(id, message));
  }

  #initialize(id: RpcId, { params }: RpcMessage): void {
    const asked: unknown = Reflect.get(Object(params), 'protocolVersion');
    const known = MCP_REVISIONS.find((revision) => revision === asked);
    const serverInfo = { name: PRODUCT_NAME, title: 'Troupe browser', version: this.#version };
    const protocolVersion = known ?? MCP_REVISIONS[0];
    this.#send(
      rpcResult(id, { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: MCP_INSTRUCTIONS }),
    );
    this.#upstream.begin({ ...Object(params), protocolVersion });
  }

  async #forward(id: RpcId, message: RpcMessage): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    try {
      const { signal } = controller;
      const answer = await (namedRevision(message) === null
        ? this.#upstream.request(id, message, signal)
        : this.#stateless.request(id, message, { signal, pass: (data) => this.#pass(data) }));
      // A cancelled request has no answer.
      if (!controller.signal.aborted) this.#send(answer);
    } catch (error) {
      if (!controller.signal.aborted) this.#send(rpcError(id, RPC_CODES.connection, sentenceOf(error)));
    } finally {
      this.#open.delete(id);
    }
  }

  #pass(data: string): void {
    const message = asMessage(parsedLine(data));
    if (message !== null) this.#send(message);
  }

  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#open.get(id)?.abort();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  #send(message: RpcMessage): void {
    if (this.#output.writableEnded || this.#output.destroyed) return;
    // Some clients end lines at U+2028, too.
    const line = printableJson(JSON.stringify(message));
    const bytes = Buffer.byteLength(line);
    if (bytes <= MAX_SENT_BYTES) this.#output.write(`${line}\n`);
    // Of an older service: its newer versions bound their answers.
    else if (message.result !== undefined && (typeof message.id === 'string' || typeof message.id === 'number'))
      this.#send(
        failure(message.id, `The answer is too large to send: ${bytes} bytes. The script has run; return less`),
      );
  }
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
