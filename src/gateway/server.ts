import { TroupeError } from '../protocol/errors.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { Access } from './access.js';
import { ArrivedRequest, type RequestSurroundings } from './arrived-request.js';
import { parseJson } from './check-shape.js';
import { chooseServer, type ServerWish } from './choose-server.js';
import { Credentials, checkRole, checkSight, type Principal } from './credentials.js';
import { errorAnswer } from './error-answer.js';
import { EventStreams } from './event-stream.js';
import { BodyStream, readBody } from './http/body.js';
import { BodyMemory } from './http/body-memory.js';
import type { HttpRequest, HttpServer, ReplyLine, ServerName } from './http/http-server.js';
import { Reply } from './http/reply.js';
import { type RequestHead, readHead } from './http/request-head.js';
import { AgentPeer } from './mcp/agent-peer.js';
import { McpEndpoint } from './mcp/mcp-endpoint.js';
import type { MakeMcpPeer } from './mcp/mcp-peer.js';
import type { Route } from './route.js';
import { type Found, Router } from './router.js';
import { ROUTES } from './routes/route-table.js';
import { type SocketGate, Sockets } from './sockets.js';
import { writeAnswer } from './write-answer.js';

/** A fault of the service itself, met while a request was answered. */
export interface GatewayFault {
  readonly method: string;
  readonly path: string;
  readonly error: unknown;
}

/** A request that was answered. */
export interface GatewayAnswered {
  /** See {@link Principal.name}; null for one who was not let in. */
  readonly who: string | null;
  /** Where it came from; empty where it may have changed nothing. */
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** The route's pattern; null where there is none, or nobody was let in. */
  readonly route: string | null;
  /** It may have changed something. */
  readonly changes: boolean;
  readonly ms: number;
  /** 0 where the client went before there was an answer. */
  readonly status: number;
}

export interface GatewayOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Which HTTP server; `auto` where it is left out. */
  readonly server?: ServerWish | undefined;
  /** Where requests go; left out, they are answered 503 until {@link Gateway.serve}. */
  readonly sessions?: Sessions | undefined;
  /** What clients call the service when a proxy stands in front of it. */
  readonly publicUrl?: string | undefined;
  /** Further names, `name` or `name:port`, that the Host header may hold. */
  readonly allowedHosts: readonly string[];
  /** When given, every request must bring it, or one that was made, as a Bearer token. See {@link Credentials}. */
  readonly token?: string | undefined;
  /** How often a silent event stream sends a comment, so that proxies keep it; 15 s by default. */
  readonly keepAliveMs?: number | undefined;
  /** What bodies that are being received may have in memory together; 256 MiB by default. */
  readonly bodyBytes?: number | undefined;
  /** What answers MCP clients: agent_eval, unless said otherwise. */
  readonly makeMcpPeer?: MakeMcpPeer | undefined;
  /** A client of MCP that was connected and is not for so long loses its browser; 2 min by default. */
  readonly mcpGoneMs?: number | undefined;
  /** Called for every request when it was answered. */
  readonly onAnswered?: ((answered: GatewayAnswered) => void) | undefined;
  /** What `GET /metrics` answers. */
  readonly metrics?: (() => Promise<string>) | undefined;
  readonly onFault?: ((fault: GatewayFault) => void) | undefined;
}

/** A request that was let in. */
interface Entered {
  readonly route: Route;
  readonly found: Found;
  readonly sessions: Sessions;
  /** Dead after the first await. */
  readonly asked: HttpRequest;
  readonly head: RequestHead;
  readonly caller: string | null;
}
const NO_BYTES = Buffer.alloc(0);

/**
 * The service's HTTP server: bytes in, bytes out. Every request passes the same gates in the same order: Host and
 * Origin, token, route, method, size, shape; then its route's handler asks the supervisor.
 */
export class Gateway {
  readonly port: number;
  readonly url: string;
  /** Which server answers. */
  readonly server: { readonly name: ServerName; readonly description: string };
  readonly #http: HttpServer;
  readonly #options: GatewayOptions;
  readonly #access: Access;
  readonly #credentials: Credentials;
  readonly #router = new Router(ROUTES);
  readonly #streams: { readonly events: EventStreams; readonly mcp: McpEndpoint };
  readonly #around: Omit<RequestSurroundings, 'sessions'>;
  readonly #sockets: Sockets;
  readonly #socketGate: SocketGate = {
    admit: (request, role) => {
      const head = readHead(request);
      if (head.fault !== null) throw new TroupeError('INVALID_REQUEST', head.fault);
      const sessions = this.#enter(head);
      const principal = this.#credentials.principalOf(head, sessions);
      checkRole(principal, role);
      return { sessions, principal };
    },
    refuse: (ask, error, path) => {
      const { head, body } = this.#errorAnswer(error, 'GET', path, null);
      // See #refuseDoubtful.
      setImmediate(() => ask.refuse(head, body));
    },
  };
  readonly #live = new Set<Reply>();
  readonly #bodies: BodyMemory;
  #sessions: Sessions | null;
  #closing: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;

  private constructor(options: GatewayOptions, http: HttpServer, server: Gateway['server'], sockets: Sockets) {
    this.#options = options;
    this.#sessions = options.sessions ?? null;
    this.#http = http;
    this.server = server;
    this.#access = new Access(options);
    this.#credentials = new Credentials(options);
    this.#around = {
      credentials: this.#credentials,
      server: server.name,
      publicBase: options.publicUrl?.replace(/\/$/, ''),
      metrics: async () => (await options.metrics?.()) ?? '',
    };
    const { keepAliveMs, mcpGoneMs: goneMs, makeMcpPeer = (asker) => new AgentPeer(asker) } = options;
    this.#streams = {
      events: new EventStreams(keepAliveMs),
      mcp: new McpEndpoint(makeMcpPeer, { keepAliveMs, goneMs }),
    };
    this.#sockets = sockets;
    this.#bodies = new BodyMemory(options.bodyBytes);
    this.port = http.port;
    const anywhere = options.host === '0.0.0.0' || options.host === '::';
    const host = anywhere ? '127.0.0.1' : options.host;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /**
   * Begins to listen. The port is taken for this process alone: a second service on it fails.
   * @throws UNAVAILABLE, in a sentence for people, when the address cannot be had, or the server that is wanted
   */
  static async listen(options: GatewayOptions): Promise<Gateway> {
    const { start, ...server } = await chooseServer(options.server);
    // Set before the first connection can be accepted, which is not before the next turn of the event loop.
    let gateway: Gateway | null = null;
    const sockets = new Sockets(
      () => (gateway === null ? null : gateway.#socketGate),
      (topic, message) => {
        if (gateway) gateway.#http.publish(topic, message);
      },
    );
    const http = await start(options, {
      sockets: sockets.routes,
      request: (request, line) => {
        if (gateway) gateway.#accept(request, line);
        else new Reply(line, { head: false, onOver: () => undefined }).cut();
      },
    });
    gateway = new Gateway(options, http, server, sockets);
    return gateway;
  }

  /** Pages that are connected to watch. */
  get viewers(): number {
    return this.#sockets.viewers;
  }

  /** Every request needs a token; true until the service has started. */
  get asksForToken(): boolean {
    return this.#sessions === null || this.#credentials.areWanted(this.#sessions.tokens);
  }

  /** See {@link Credentials.wayIn}; null until the service has started. */
  get wayIn(): string | null {
    return this.#sessions === null ? null : this.#credentials.wayIn(this.#sessions.tokens);
  }

  /** Everything that the requests need is there from now on. */
  serve(sessions: Sessions): void {
    this.#sessions = sessions;
  }

  /**
   * Accepts nothing more, ends the event streams, lets the answers under way finish until the deadline, then cuts them.
   * Idempotent: a later call waits for the first.
   */
  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#http.stopListening();
    this.#streams.events.close();
    this.#streams.mcp.close();
    this.#sockets.close();
    for (const reply of this.#live) reply.closeAfter();
    if (this.#live.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadlineMs);
        this.#onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    // Never from inside one of the server's own callbacks, which the last answer may have been written in.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (const reply of this.#live) reply.cut();
    await this.#streams.mcp.end();
    this.#http.close();
  }

  #accept(asked: HttpRequest, line: ReplyLine): void {
    const { method, path } = asked;
    let principal: Principal | null = null;
    let address = '';
    let route: Route | null = null;
    const startedAt = performance.now();
    const reply = new Reply(line, {
      head: method === 'HEAD',
      onOver: (over) => {
        const who = principal?.name ?? null;
        const ms = performance.now() - startedAt;
        const { status } = over;
        const { path: pattern = null, changes = mayChange(method) } = route ?? {};
        this.#options.onAnswered?.({ who, address, method, path, route: pattern, changes, ms, status });
        this.#live.delete(over);
        if (this.#live.size === 0) this.#onIdle?.();
      },
    });
    this.#live.add(reply);
    try {
      // The request is dead after this call: all that is needed of it is read now.
      if (this.#closing) reply.closeAfter();
      const head = readHead(asked);
      if (head.fault !== null) {
        this.#refuseDoubtful(reply, head.fault, method, path);
        return;
      }
      const sessions = this.#enter(head);
      const found = this.#router.find(path);
      principal = found?.isOpen ? null : this.#credentials.principalOf(head, sessions);
      if (!found) throw new TroupeError('NOT_FOUND', `There is no route ${path.slice(0, 200)}`);
      if (method === 'OPTIONS') {
        reply.end({ status: 204, headers: [['Allow', allowed(found).join(', ')]] }, '');
        return;
      }
      const chosen = routeFor(found, method);
      route = chosen;
      // For the audit line; there is none to be had once it was answered.
      if (chosen.changes) address = reply.remoteAddress;
      if (principal !== null && chosen.role !== null) {
        checkSight(principal, chosen.shared, found.params.id);
        checkRole(principal, chosen.role);
      }
      const entered = { route: chosen, found, sessions, asked, head, caller: principal?.caller ?? null };
      void this.#serve(reply, entered).catch((error) => this.#fail(reply, error, method, path, chosen));
    } catch (error) {
      if (mayChange(method)) address = reply.remoteAddress;
      this.#fail(reply, error, method, path, null);
    }
  }

  /**
   * Where such a request ends, and the next begins, is doubtful: its connection is closed. uWebSockets.js would serve what
   * came in the same packet before it closes; while there is no answer yet it closes at once instead.
   */
  #refuseDoubtful(reply: Reply, fault: string, method: string, path: string): void {
    reply.closeAfter();
    setImmediate(() => this.#fail(reply, new TroupeError('INVALID_REQUEST', fault), method, path, null));
  }

  /** @throws FORBIDDEN_ORIGIN; UNAVAILABLE before the service has started and when it stops */
  #enter(head: RequestHead): Sessions {
    this.#access.checkPlace(head);
    if (this.#closing) throw new TroupeError('UNAVAILABLE', 'The service is stopping');
    if (this.#sessions === null) throw new TroupeError('UNAVAILABLE', 'The service is starting');
    return this.#sessions;
  }

  /** Everything before the first await happens while the request still lives. */
  async #serve(reply: Reply, { route, found, sessions, asked, head, caller }: Entered): Promise<void> {
    const { host, contentLength: declared } = head;
    const { query } = asked;
    const memory = this.#bodies;
    const headers: { [name: string]: string } = {};
    for (const name of route.headers) headers[name] = asked.header(name);
    const upload = route.body === 'stream' ? new BodyStream(reply, route.maxBodyBytes, declared, memory) : null;
    const hasBytes = route.body === 'json' || route.body === 'bytes';
    const bytes = hasBytes ? await readBody(reply, route.maxBodyBytes, declared, memory) : NO_BYTES;
    const json = route.body === 'json' ? parseJson(bytes) : undefined;
    const read = { params: found.params, headers, host, query, caller, json, bytes, upload };
    const request = new ArrivedRequest(read, reply, { ...this.#around, sessions });
    const handled = route.handle(request, sessions);
    const answer = await (upload === null ? handled : handled.finally(() => upload.settle()));
    await writeAnswer(reply, answer, this.#streams);
  }

  #fail(reply: Reply, error: unknown, method: string, path: string, route: Route | null): void {
    const { head, body } = this.#errorAnswer(error, method, path, route);
    reply.end(head, body);
  }

  #errorAnswer(error: unknown, method: string, path: string, route: Route | null): ReturnType<typeof errorAnswer> {
    const answer = errorAnswer(error, route?.errorStatus);
    if (answer.code === 'INTERNAL') this.#options.onFault?.({ method, path, error });
    return answer;
  }
}

function mayChange(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

function routeFor(found: Found, method: string): Route {
  const wanted = method === 'HEAD' ? 'GET' : method;
  for (const route of found.routes.values()) if (route.method === wanted) return route;
  throw new TroupeError('METHOD_NOT_ALLOWED', `This route does not take ${method.slice(0, 20)}`, {
    allow: allowed(found),
  });
}

function allowed(found: Found): string[] {
  const methods: string[] = [...found.routes.keys()];
  if (methods.includes('GET')) methods.push('HEAD');
  return [...methods, 'OPTIONS'].sort();
}
