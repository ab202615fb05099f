import { PictureBudget } from '../agent-js/pictures/picture-budget.js';
import { settlesWithin } from '../base/deadline.js';
import { proofOf } from '../client/local-service/service-proof.js';
import { ClosedPorts } from '../net-policy/closed-ports.js';
import { TroupeError } from '../protocol/errors.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { WebDriver } from '../webdriver/web-driver.js';
import { ArrivedRequest } from './arrived-request.js';
import { parseJson } from './check-shape.js';
import { chooseServer, type ServerOption } from './choose-server.js';
import { Credentials, checkAccess, checkRole, type LinkScope, type Principal } from './credentials.js';
import { errorAnswer } from './error-answer.js';
import { EventStreams } from './event-stream.js';
import { awayFrom } from './forwarding/away.js';
import { type Away, type Forwarder, heldRequest, wholeBody } from './forwarding/forwarder.js';
import { HostCheck } from './host-check.js';
import { BodyStream, readBody } from './http/body.js';
import { BodyMemory } from './http/body-memory.js';
import type { HttpExchange, HttpRequest, HttpServer, ServerName } from './http/http-server.js';
import { Reply } from './http/reply.js';
import { type RequestHead, readHead } from './http/request-head.js';
import { endAtLinkExpiry } from './link-expiry.js';
import { AgentPeer } from './mcp/agent-peer.js';
import { McpEndpoint } from './mcp/mcp-endpoint.js';
import type { MakeMcpPeer, StatelessPeer } from './mcp/mcp-peer.js';
import { StatelessAgent } from './mcp/stateless-agent.js';
import { withOtherCredentials } from './other-credentials.js';
import type { Route } from './route.js';
import { type Found, Router } from './router.js';
import { servedRoutes } from './routes/route-table.js';
import { webDriverCommand } from './routes/webdriver.js';
import { type SocketGate, Sockets } from './sockets.js';
import { TraceViewer } from './trace-viewer/trace-viewer.js';
import { devToolsOf } from './tunnel/devtools-tunnel.js';
import { writeAnswer } from './write-answer.js';

/** A fault of the service itself, caught while a request was answered. */
export interface GatewayFault {
  readonly method: string;
  readonly path: string;
  readonly error: unknown;
}

/** A request that was answered. */
export interface GatewayAnswered {
  /** See {@link Principal.name}; null if the caller was not admitted. */
  readonly principalName: string | null;
  /** The client's address; empty if the request changes nothing. */
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** The route's pattern; null if no route was found or the caller was not admitted. */
  readonly route: string | null;
  /** The request may have changed something. */
  readonly changes: boolean;
  readonly ms: number;
  /** 0 if the client disconnected before there was an answer. */
  readonly status: number;
}

export interface GatewayOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** `auto` by default. */
  readonly server?: ServerOption | undefined;
  /** Handles the requests; until {@link Gateway.serve} sets it, they are answered 503. */
  readonly sessions?: Sessions | undefined;
  /** The address that clients use if a proxy is in front of the service. */
  readonly publicUrl?: string | undefined;
  /** Where the trace viewer listens, once a trace is opened. By default a free port. */
  readonly traceViewer?: { readonly port: number; readonly publicUrl?: string | undefined } | undefined;
  /** Further accepted values of the Host header, `name` or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** If set, every request needs this token or a created one, as a Bearer token. See {@link Credentials}. */
  readonly token?: string | undefined;
  /** With it the service proves itself to clients of the same user, see `client/local-service/service-proof.ts`. */
  readonly secret?: string | undefined;
  /** How often an idle event stream sends a comment, so that proxies keep it open; 15 s by default. */
  readonly keepAliveMs?: number | undefined;
  /** Memory for all bodies that are being received, in bytes; 256 MiB by default. */
  readonly bodyBytes?: number | undefined;
  /** Makes what answers MCP clients; agent_eval by default. */
  readonly makeMcpPeer?: MakeMcpPeer | undefined;
  /** The same for clients without MCP sessions. */
  readonly statelessMcpPeer?: StatelessPeer | undefined;
  /** After this time without a connection, an MCP client that had a stream loses its browser; 2 min by default. */
  readonly mcpGoneMs?: number | undefined;
  /** Called for every answered request. */
  readonly onAnswered?: ((answered: GatewayAnswered) => void) | undefined;
  /** The body of `GET /metrics`. */
  readonly metrics?: (() => Promise<string>) | undefined;
  readonly onFault?: ((fault: GatewayFault) => void) | undefined;
  /** The path of chromedriver; by default where packages install it. */
  readonly chromedriver?: string | undefined;
  /** Ports that pages must not reach; those of WebDriver are added. */
  readonly closedPorts?: ClosedPorts | undefined;
  /** Limits what pictures of all sessions cost; its own by default. */
  readonly pictures?: PictureBudget | undefined;
}

/** An admitted request. */
interface AdmittedRequest {
  readonly route: Route;
  readonly found: Found;
  readonly sessions: Sessions;
  /** Invalid after the first await. */
  readonly native: HttpRequest;
  readonly head: RequestHead;
  readonly caller: string | null;
  readonly scope: LinkScope | null;
  /** In place of the caller's token, if the session's node answers; null if this one does. */
  readonly away: Away | null;
}
const NO_BYTES = Buffer.alloc(0);

/**
 * The service's HTTP interface. Every request passes the same checks in the same order: Host and Origin, token, route,
 * method, size, shape; then the route's handler calls the supervisor.
 */
export class Gateway {
  readonly port: number;
  readonly url: string;
  /** The HTTP server in use. */
  readonly server: { readonly name: ServerName; readonly description: string };
  readonly #http: HttpServer;
  readonly #options: GatewayOptions;
  readonly #hostCheck: HostCheck;
  readonly #credentials: Credentials;
  readonly #router: Router;
  readonly #streams: { readonly events: EventStreams; readonly mcp: McpEndpoint };
  readonly #traceViewer: TraceViewer;
  readonly #webDriver: WebDriver;
  readonly #sockets: Sockets;
  readonly #socketGate: SocketGate = {
    admit: (request, role) => {
      const head = withOtherCredentials(readHead(request), request.path, request.query);
      if (head.fault !== null) throw new TroupeError('INVALID_REQUEST', head.fault);
      const sessions = this.#sessionsFor(head);
      const principal = this.#credentials.principalOf(head, sessions, request);
      checkRole(principal, role);
      return { sessions, principal };
    },
    refuse: (ask, error, path) => {
      const { head, body } = this.#errorAnswer(error, 'GET', path, null);
      // See #refuseAmbiguous.
      setImmediate(() => ask.refuse(head, body));
    },
  };
  readonly #forwarder: Forwarder;
  readonly #open = new Set<Reply>();
  readonly #bodies: BodyMemory;
  #sessions: Sessions | null;
  #closing: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;
  /** When the last request ended, on the clock of `performance.now()`. */
  #usedAtMs = performance.now();

  private constructor(options: GatewayOptions, http: HttpServer, server: Gateway['server'], sockets: Sockets) {
    this.#forwarder = sockets.forwarder;
    this.#options = options;
    this.#sessions = options.sessions ?? null;
    this.#http = http;
    this.server = server;
    this.#hostCheck = new HostCheck(options);
    this.#credentials = new Credentials(options);
    this.#traceViewer = new TraceViewer({
      host: options.host,
      allowedHosts: options.allowedHosts,
      port: options.traceViewer?.port ?? 0,
      publicUrl: options.traceViewer?.publicUrl,
      servicePublicUrl: options.publicUrl,
      server: options.server,
      onFault: (fault) => options.onFault?.(fault),
    });
    this.#webDriver = new WebDriver({
      driver: options.chromedriver,
      closedPorts: options.closedPorts ?? new ClosedPorts(),
      connect: devToolsOf,
    });
    const routes = servedRoutes({
      webDriver: this.#webDriver,
      traceViewer: this.#traceViewer,
      credentials: this.#credentials,
      server: server.name,
      publicBase: options.publicUrl?.replace(/\/$/, ''),
      metrics: async () => (await options.metrics?.()) ?? '',
      prove: (challenge) => (options.secret === undefined ? null : proofOf(options.secret, this.port, challenge)),
    });
    this.#router = new Router(routes);
    const { keepAliveMs, mcpGoneMs: goneMs, makeMcpPeer = (client) => new AgentPeer(client) } = options;
    const { statelessMcpPeer = new StatelessAgent() } = options;
    this.#streams = {
      events: new EventStreams(keepAliveMs),
      mcp: new McpEndpoint(makeMcpPeer, statelessMcpPeer, { keepAliveMs, goneMs }),
    };
    this.#sockets = sockets;
    this.#bodies = new BodyMemory(options.bodyBytes);
    this.port = http.port;
    const anywhere = options.host === '0.0.0.0' || options.host === '::';
    const host = anywhere ? '127.0.0.1' : options.host;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /**
   * Starts to listen. The port is bound exclusively: a second service on it fails.
   * @throws UNAVAILABLE if the address is not available or the chosen server cannot be loaded
   */
  static async listen(options: GatewayOptions): Promise<Gateway> {
    const { start, ...server } = await chooseServer(options.server);
    // Set before the first connection is accepted, which is the next turn of the event loop at the earliest.
    let gateway: Gateway | null = null;
    const sockets = new Sockets(
      () => (gateway === null ? null : gateway.#socketGate),
      (topic, message) => {
        if (gateway) gateway.#http.publish(topic, message);
      },
      options.pictures ?? new PictureBudget(),
    );
    const http = await start(options, {
      sockets: sockets.routes,
      request: (request, exchange) => {
        if (gateway) gateway.#accept(request, exchange);
        else new Reply(exchange, { head: false, onOver: () => undefined }).cut();
      },
    });
    gateway = new Gateway(options, http, server, sockets);
    return gateway;
  }

  /** Connected dashboard pages. */
  get viewers(): number {
    return this.#sockets.viewers;
  }

  /** For how long nobody was connected, in milliseconds: no request, stream, or dashboard. 0 if somebody is. */
  get unusedMs(): number {
    return this.#open.size > 0 || this.viewers > 0 ? 0 : performance.now() - this.#usedAtMs;
  }

  /** Every request needs a token; true until {@link serve}. */
  get requiresToken(): boolean {
    return this.#sessions === null || this.#credentials.areRequired(this.#sessions.tokens);
  }

  /** See {@link Credentials.setupHint}; null until {@link serve}. */
  get setupHint(): string | null {
    return this.#sessions === null ? null : this.#credentials.setupHint(this.#sessions.tokens);
  }

  /** Requests are handled from now on. */
  serve(sessions: Sessions): void {
    this.#sessions = sessions;
  }

  /**
   * Stops accepting, ends the event streams, lets open requests finish until the deadline, then cuts them. Idempotent:
   * a later call waits for the first.
   */
  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#http.stopListening();
    const viewerClosed = this.#traceViewer.close();
    const driversClosed = this.#webDriver.close();
    this.#streams.events.close();
    this.#streams.mcp.close();
    this.#sockets.close();
    for (const reply of this.#open) reply.closeAfter();
    if (this.#open.size > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      await settlesWithin(idle, deadlineMs);
    }
    // Never inside a callback of the server, which may be where the last answer was written.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (const reply of this.#open) reply.cut();
    await this.#streams.mcp.end();
    await viewerClosed;
    await driversClosed;
    this.#forwarder.close();
    this.#http.close();
  }

  #accept(native: HttpRequest, exchange: HttpExchange): void {
    const { method, path } = native;
    let principal: Principal | null = null;
    let address = '';
    let route: Route | null = null;
    const startedAt = performance.now();
    const reply = new Reply(exchange, {
      head: method === 'HEAD',
      onOver: (over) => {
        const principalName = principal?.name ?? null;
        const ms = performance.now() - startedAt;
        const { status } = over;
        const { path: pattern = null, changes = mayChange(method) } = route ?? {};
        this.#options.onAnswered?.({ principalName, address, method, path, route: pattern, changes, ms, status });
        this.#open.delete(over);
        this.#usedAtMs = performance.now();
        if (this.#open.size === 0) this.#onIdle?.();
      },
    });
    this.#open.add(reply);
    try {
      // The native request is invalid after this call, so everything needed is read now.
      if (this.#closing) reply.closeAfter();
      const read = readHead(native);
      const head = withOtherCredentials(read, path, native.query);
      if (head.fault !== null) {
        this.#refuseAmbiguous(reply, head.fault, method, path);
        return;
      }
      const sessions = this.#sessionsFor(head);
      const found = this.#router.find(path);
      principal = found?.isOpen ? null : this.#credentials.principalOf(head, sessions, native);
      if (!found) throw new TroupeError('NOT_FOUND', `There is no route ${path.slice(0, 200)}`);
      if (method === 'OPTIONS') {
        reply.end({ status: 204, headers: [['Allow', allowed(found).join(', ')]] }, '');
        return;
      }
      const chosen = routeFor(found, method);
      route = chosen;
      // Read now for the audit log: it is not available once the request was answered.
      if (chosen.changes) address = reply.remoteAddress;
      if (principal !== null) checkAccess(principal, chosen, found.params.id);
      const { caller, linkScope: scope } = principal ?? { caller: null, linkScope: null };
      const away = awayFrom(sessions, { route: chosen, found, native }, principal);
      const admitted = { route: chosen, found, sessions, native, head, caller, scope, away };
      void this.#serve(reply, admitted).catch((error) => this.#fail(reply, error, method, path, chosen));
    } catch (error) {
      if (mayChange(method)) address = reply.remoteAddress;
      this.#fail(reply, error, method, path, null);
    }
  }

  /**
   * It is ambiguous where such a request ends and the next one begins, so its connection is closed. uWebSockets.js
   * would still serve requests from the same packet before it closes; while there is no answer yet, it closes at once.
   */
  #refuseAmbiguous(reply: Reply, fault: string, method: string, path: string): void {
    reply.closeAfter();
    setImmediate(() => this.#fail(reply, new TroupeError('INVALID_REQUEST', fault), method, path, null));
  }

  /** @throws FORBIDDEN_ORIGIN; UNAVAILABLE while the service starts or stops */
  #sessionsFor(head: RequestHead): Sessions {
    this.#hostCheck.check(head);
    if (this.#closing) throw new TroupeError('UNAVAILABLE', 'The service is stopping');
    if (this.#sessions === null) throw new TroupeError('UNAVAILABLE', 'The service is starting');
    return this.#sessions;
  }

  /** Everything before the first await runs while the native request is valid. */
  async #serve(
    reply: Reply,
    { route, found, sessions, native, head, caller, scope, away }: AdmittedRequest,
  ): Promise<void> {
    const { host, contentLength: declared } = head;
    const { query } = native;
    const memory = this.#bodies;
    const headers: { [name: string]: string } = {};
    for (const name of route.headers) headers[name] = native.header(name);
    const isStreamed = route.body === 'stream' || (away !== null && route.body !== 'none');
    const upload = isStreamed ? new BodyStream(reply, route.maxBodyBytes, declared, memory) : null;
    if (away !== null) {
      const held = heldRequest(native);
      const address = reply.remoteAddress;
      const home = await away.home();
      if (home !== null) {
        const about = { ...away, at: home, caller: caller ?? address, body: upload };
        await this.#forwarder.serve(reply, held, about).finally(() => upload?.settle());
        return;
      }
    }
    const hasBytes = route.body === 'json' || route.body === 'bytes';
    const received = () =>
      upload === null ? readBody(reply, route.maxBodyBytes, declared, memory) : wholeBody(upload);
    const bytes = hasBytes ? await received() : NO_BYTES;
    const json = route.body === 'json' ? parseJson(bytes) : undefined;
    const read = { params: found.params, headers, host, query, caller, scope, json, bytes, upload };
    const request = new ArrivedRequest(read, reply);
    const handled = route.handle(request, sessions);
    const answer = await (upload === null ? handled : handled.finally(() => upload.settle()));
    // Streams of events last. A request that changes something may itself end the link.
    const cut = endAtLinkExpiry(route.changes ? null : scope, sessions, () => reply.cut());
    await writeAnswer(reply, answer, this.#streams).finally(cut);
  }

  #fail(reply: Reply, error: unknown, method: string, path: string, route: Route | null): void {
    const { head, body } = this.#errorAnswer(error, method, path, route);
    reply.end(head, body);
  }

  #errorAnswer(error: unknown, method: string, path: string, route: Route | null): ReturnType<typeof errorAnswer> {
    const answer = errorAnswer(error, route?.errorStatus, webDriverCommand(method, path));
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
