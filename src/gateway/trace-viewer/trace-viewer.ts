import type { ShareLinks } from '../../auth/share-links.js';
import { TroupeError } from '../../protocol/errors.js';
import { TRACE } from '../../protocol/trace/trace.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { chooseServer, type ServerOption } from '../choose-server.js';
import { errorAnswer } from '../error-answer.js';
import { HostCheck, type HostCheckOptions } from '../host-check.js';
import type { HttpExchange, HttpRequest, HttpServer } from '../http/http-server.js';
import { Reply } from '../http/reply.js';
import { readHead } from '../http/request-head.js';
import { sendStream } from '../http/send-stream.js';
import { traceViewerHeaders, traceViewerPolicy, type ViewerFile, viewerFile } from './viewer-files.js';

/** How long a link to a trace can be opened, in seconds. */
const LINK_SECONDS = 3600;
const TRACE_PATH = /^\/traces\/([\w.-]{1,100})\/trace\.zip$/;

export interface TraceViewerOptions extends Pick<HostCheckOptions, 'host' | 'allowedHosts'> {
  /** 0 chooses a free port. */
  readonly port: number;
  /** The viewer's address if a proxy is in front of the service. */
  readonly publicUrl: string | undefined;
  /** The service's own address if a proxy is in front of it. */
  readonly servicePublicUrl: string | undefined;
  readonly server: ServerOption | undefined;
  /** For faults of the service itself. */
  readonly onFault: (fault: { readonly method: string; readonly path: string; readonly error: unknown }) => void;
}

/**
 * Playwright's trace viewer on an origin of its own: what a page put into a trace cannot act as the dashboard, even if
 * the viewer ran it. It sets and reads no cookie, and gives out one trace to who has its signed address. It listens once
 * a trace is opened. Owned by the gateway.
 */
export class TraceViewer {
  readonly #options: TraceViewerOptions;
  readonly #hostCheck: HostCheck;
  #listening: Promise<HttpServer> | null = null;
  #closed = false;
  #sessions: Pick<Sessions, 'artifacts' | 'traceLinks'> | null = null;

  constructor(options: TraceViewerOptions) {
    this.#options = options;
    this.#hostCheck = new HostCheck(options);
  }

  /**
   * The address that opens a session's trace in the viewer.
   * @param host the Host header of the dashboard, already checked
   * @throws UNAVAILABLE if the viewer cannot be reached or cannot listen
   */
  async open(
    id: Parameters<ShareLinks['make']>[0],
    host: string,
    sessions: Pick<Sessions, 'artifacts' | 'traceLinks'>,
  ): Promise<{ readonly url: string; readonly expiresAt: string }> {
    const { publicUrl, servicePublicUrl } = this.#options;
    if (publicUrl === undefined && servicePublicUrl !== undefined) {
      throw new TroupeError(
        'UNAVAILABLE',
        'The trace viewer has no address behind the proxy: set traceViewer.publicUrl in troupe.json, or download the ' +
          `trace and open it with \`npx playwright show-trace ${TRACE}\``,
      );
    }
    this.#sessions = sessions;
    this.#listening ??= this.#listen();
    const { port } = await this.#listening.catch((error: unknown) => {
      this.#listening = null;
      throw error;
    });
    const { link, expiresAt } = sessions.traceLinks.make(id, LINK_SECONDS);
    const base = publicUrl?.replace(/\/$/, '') ?? `http://${otherName(host, this.#options.host)}:${port}`;
    return { url: `${base}/index.html?trace=${encodeURIComponent(`${base}/traces/${link}/${TRACE}`)}`, expiresAt };
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const http = await this.#listening?.catch(() => null);
    http?.stopListening();
    http?.close();
  }

  async #listen(): Promise<HttpServer> {
    if (this.#closed) throw new TroupeError('UNAVAILABLE', 'The service is stopping');
    const { start } = await chooseServer(this.#options.server);
    const http = await start(this.#options, {
      sockets: [],
      request: (request, exchange) => this.#accept(request, exchange),
    });
    if (!this.#closed) return http;
    http.close();
    throw new TroupeError('UNAVAILABLE', 'The service is stopping');
  }

  #accept(request: HttpRequest, exchange: HttpExchange): void {
    const { method, path } = request;
    const reply = new Reply(exchange, { head: method === 'HEAD', onOver: () => undefined });
    const fail = (error: unknown): void => {
      const { code, head, body } = errorAnswer(error);
      if (code === 'INTERNAL') this.#options.onFault({ method, path, error });
      reply.end(head, body);
    };
    try {
      const head = readHead(request);
      if (head.fault !== null) throw new TroupeError('INVALID_REQUEST', head.fault);
      this.#hostCheck.check(head);
      if (method !== 'GET' && method !== 'HEAD') {
        throw new TroupeError('METHOD_NOT_ALLOWED', 'The trace viewer takes GET alone', { allow: ['GET', 'HEAD'] });
      }
      const [, link] = TRACE_PATH.exec(path) ?? [];
      void (link === undefined ? this.#sendFile(reply, path) : this.#sendTrace(reply, link)).catch(fail);
    } catch (error) {
      // uWebSockets.js may still read from the same packet: the connection ends with the answer.
      reply.closeAfter();
      fail(error);
    }
  }

  async #sendTrace(reply: Reply, link: string): Promise<void> {
    const shared = this.#sessions?.traceLinks.read(link) ?? null;
    if (shared === null || this.#sessions === null) {
      throw new TroupeError(
        'NOT_FOUND',
        'This link is not valid or has expired; open the trace from the dashboard again',
      );
    }
    const { stream, bytes } = await this.#sessions.artifacts.trace(shared.id);
    const headers = [['Content-Type', 'application/zip'], ...traceViewerHeaders()] as const;
    await sendStream(reply, { status: 200, headers }, stream, bytes);
  }

  async #sendFile(reply: Reply, path: string): Promise<void> {
    const file: ViewerFile | null = await viewerFile(path === '/' ? 'index.html' : path.slice(1));
    if (file === null) throw new TroupeError('NOT_FOUND', 'The trace viewer has no such file');
    const headers = [
      ['Content-Type', file.contentType],
      ['Content-Security-Policy', await traceViewerPolicy()],
      ...traceViewerHeaders(),
    ] as const;
    await sendStream(reply, { status: 200, headers }, file.stream, file.bytes);
  }
}

/**
 * Cookies are of a host, whatever its port. On this machine the viewer goes by the other name of the loopback address
 * than the dashboard, so that neither sees the other's.
 */
function otherName(host: string, listensOn: string): string {
  const name = host.replace(/:\d+$/, '');
  if (listensOn !== '127.0.0.1') return name;
  return name === '127.0.0.1' ? 'localhost' : '127.0.0.1';
}
