import { Packr } from 'msgpackr';
import type { PictureBudget } from '../../agent-js/pictures/picture-budget.js';
import { assertNever } from '../../base/assert-never.js';
import type { ForwardClient } from '../../cluster/forward-client.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { SessionId } from '../../protocol/session.js';
import { type StreamMessage, StreamRequest } from '../../protocol/stream.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { checkShape, parseJson } from '../check-shape.js';
import { type LinkScope, type Principal, tokenOf } from '../credentials.js';
import type { HttpSocket } from '../http/http-server.js';
import { endAtLinkExpiry, LINK_EXPIRED } from '../link-expiry.js';
import { AwayScreens, type ScreenRequest } from './away-screens.js';
import { ROWS_TOPIC, RowFeed } from './row-feed.js';
import { ScreenFeed } from './screen-feed.js';
import { type FeedOutlet, type Lane, SessionFeed } from './session-feed.js';
import { Viewer } from './viewer.js';

export const STREAM_PATH = '/api/stream';

/** The longest text to send has 32,768 characters. */
const MAX_REQUEST_BYTES = 256 * 1024;
/** A viewer with more unread bytes is disconnected. It reconnects and names the last event that it saw. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** Connected pages; each costs a few KB. */
const MAX_VIEWERS = 5000;
/** A viewer that is silent for this long, also after a ping, is disconnected. */
const IDLE_SECONDS = 60;
const DAY_MS = 86_400_000;
/** Codes of RFC 6455, section 7.4.1. */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;

/** Requests that a share link permits, for its session. */
const SHARED: ReadonlySet<StreamRequest['type']> = new Set([
  'watchSession',
  'unwatchSession',
  'watchScreen',
  'unwatchScreen',
]);

/** Requests that a link of an open handoff permits in addition. */
const FOR_HANDOFF: ReadonlySet<StreamRequest['type']> = new Set(['holdControl', 'letControlGo', 'input']);

/** Requests that end something: at this node too, since it may have had the session before. */
const ENDINGS: ReadonlySet<StreamRequest['type']> = new Set(['unwatchScreen', 'letControlGo']);

interface StreamState {
  readonly sessions: Sessions;
  readonly principal: Principal;
  viewer: Viewer | null;
  /** Null if this service is alone, or another node has passed the connection on. */
  away: AwayScreens | null;
  cancelExpiry: () => void;
  watchesRows: boolean;
}

/**
 * The WebSocket of the dashboard's pages. Data for many viewers is read and encoded once and published by the WebSocket
 * server itself, so that a hundred viewers of a session cost little more than one.
 *
 *   event hub -> session feed -> topics of its lanes -> viewers      (a viewer first reads the past by itself)
 *   event hub -> row feed ----> topic ---------------> viewers
 */
export class StreamServer {
  /** Without records, each message can be decoded by itself: viewers come and go. */
  readonly #packr = new Packr({ useRecords: false });
  readonly #feeds = new Map<SessionId, SessionFeed>();
  readonly #outlet: FeedOutlet;
  readonly #screens = new Map<SessionId, ScreenFeed>();
  readonly #budget: PictureBudget;
  readonly #client: ForwardClient;
  readonly #sockets = new Set<HttpSocket<StreamState>>();
  #rows: { readonly feed: RowFeed; viewers: number } | null = null;

  /**
   * @param publish sends to all subscribers of a topic
   * @param budget limits what pictures of all sessions cost
   * @param client reaches other nodes
   */
  constructor(publish: FeedOutlet['publish'], budget: PictureBudget, client: ForwardClient) {
    this.#budget = budget;
    this.#client = client;
    this.#outlet = { pack: (message) => this.#pack(message), publish };
  }

  /** The socket handlers of the route, without `upgrade`: the gateway decides who is admitted. */
  readonly socketHandlers = {
    maxMessageBytes: MAX_REQUEST_BYTES,
    maxUnreadBytes: MAX_UNREAD_BYTES,
    idleSeconds: IDLE_SECONDS,
    open: (socket: HttpSocket<StreamState>) => this.#open(socket),
    message: (socket: HttpSocket<StreamState>, message: Buffer) => this.#receive(socket, message),
    drain: ({ state }: HttpSocket<StreamState>) => {
      state.viewer?.drain();
      state.away?.drain();
    },
    close: (socket: HttpSocket<StreamState>) => this.#closed(socket),
  };

  get viewers(): number {
    return this.#sockets.size;
  }

  /** The state of a connection that is being upgraded. */
  newState(sessions: Sessions, principal: Principal): StreamState {
    return { sessions, principal, viewer: null, away: null, cancelExpiry: () => undefined, watchesRows: false };
  }

  /** Ends every connection with code 1001; pages reconnect. */
  close(): void {
    for (const socket of [...this.#sockets]) socket.end(GOING_AWAY, 'The service is stopping');
  }

  #open(socket: HttpSocket<StreamState>): void {
    if (this.#sockets.size >= MAX_VIEWERS) {
      socket.end(TRY_AGAIN_LATER, `${MAX_VIEWERS} pages are already connected`);
      return;
    }
    this.#sockets.add(socket);
    const state = socket.state;
    const { sessions, principal } = state;
    const { linkScope: sees } = principal;
    state.viewer = new Viewer(
      {
        send: (message) => socket.send(this.#pack(message), false),
        sendPacked: (message) => socket.send(message, false),
        subscribe: (topic) => socket.subscribe(topic),
        unsubscribe: (topic) => socket.unsubscribe(topic),
        bufferedBytes: () => socket.bufferedBytes,
      },
      sessions,
      {
        join: (id) => this.#join(id, sessions),
        leave: (id, lane) => this.#leave(id, lane),
        joinScreen: (id) => this.#joinScreen(id, sessions),
        leaveScreen: (id) => this.#leaveScreen(id),
      },
    );
    const { nodes } = sessions;
    if (nodes !== null && principal.isForwarded !== true) {
      state.away = new AwayScreens({
        client: this.#client,
        nodes,
        sessions,
        path: STREAM_PATH,
        caller: { caller: principal.caller ?? '', role: principal.role },
        sendPacked: (message) => {
          if (this.#sockets.has(socket)) socket.send(message, false);
        },
        bufferedBytes: () => (this.#sockets.has(socket) ? socket.bufferedBytes : 0),
        reconnect: () => {
          if (this.#sockets.has(socket)) socket.end(GOING_AWAY, 'The node of a session is gone');
        },
      });
    }
    const { version, driver, capacity } = sessions.health();
    const hello = { type: 'hello', version, driver, token: tokenOf(principal) } as const;
    // A share link reveals its session, but not how busy the service is.
    const nothing = { max: 0, running: 0, queued: 0 };
    const more =
      sees === null ? { capacity } : { capacity: nothing, viewOnly: true, handoffs: [...sees.handoffs.keys()] };
    socket.send(this.#pack({ ...hello, ...more }), false);
    const end = () => socket.end(LINK_EXPIRED, 'The link has expired');
    state.cancelExpiry = endAtLinkExpiry(sees, sessions, end);
  }

  #receive(socket: HttpSocket<StreamState>, message: Buffer): void {
    const { viewer, away, principal } = socket.state;
    const { linkScope: sees } = principal;
    if (viewer === null) return;
    let request: StreamRequest | null = null;
    const refuse = (error: unknown) => {
      // The viewer may have disconnected meanwhile.
      if (!this.#sockets.has(socket)) return;
      const id = request !== null && 'id' in request ? request.id : null;
      socket.send(this.#pack({ type: 'refused', id, error: encodeError(error) }), false);
    };
    try {
      request = checkShape(StreamRequest, parseJson(message), 'body');
      if (sees !== null && !isPermitted(request, sees)) {
        throw new TroupeError('FORBIDDEN', 'A share link gives access to its session only; sign in with a token');
      }
      if (away !== null && isOfScreen(request) && away.takes(request)) {
        away.pass(request).catch(refuse);
        if (!ENDINGS.has(request.type)) return;
      }
      switch (request.type) {
        case 'watchSessions':
          this.#watchRows(socket, request.failedSince).catch(refuse);
          return;
        case 'watchSession':
          viewer.watch(request.id, request.after).catch(refuse);
          return;
        case 'ping':
          socket.send(this.#pack({ type: 'pong' }), false);
          return;
        case 'unwatchSession':
          viewer.unwatch(request.id);
          return;
        case 'watchScreen':
          viewer.watchScreen(request.id, { pace: request.pace, width: request.width }).catch(refuse);
          return;
        case 'unwatchScreen':
          viewer.unwatchScreen(request.id);
          return;
        case 'holdControl':
          viewer.holdControl(request.id, request.key);
          return;
        case 'letControlGo':
          viewer.letControlGo(request.id);
          return;
        case 'input':
          viewer.input(request.id, request.inputs).catch(refuse);
          return;
        case 'copy':
          this.#copy(socket, viewer, request.id).catch(refuse);
          return;
        default:
          assertNever(request);
      }
    } catch (error) {
      refuse(error);
    }
  }

  async #copy(socket: HttpSocket<StreamState>, viewer: Viewer, id: SessionId): Promise<void> {
    const text = await viewer.copy(id);
    if (this.#sockets.has(socket)) socket.send(this.#pack({ type: 'copied', id, text }), false);
  }

  #closed(socket: HttpSocket<StreamState>): void {
    if (!this.#sockets.delete(socket)) return;
    const { viewer, away, watchesRows, cancelExpiry } = socket.state;
    cancelExpiry();
    viewer?.close();
    away?.close();
    if (watchesRows) this.#leaveRows();
  }

  async #watchRows(
    socket: HttpSocket<StreamState>,
    failedSince = new Date(Date.now() - DAY_MS).toISOString(),
  ): Promise<void> {
    const state = socket.state;
    if (state.watchesRows) return;
    state.watchesRows = true;
    this.#rows ??= {
      feed: new RowFeed(state.sessions, (message) => this.#outlet.publish(ROWS_TOPIC, this.#pack(message))),
      viewers: 0,
    };
    this.#rows.viewers += 1;
    socket.subscribe(ROWS_TOPIC);
    const initial = await this.#rows.feed.initialMessages(failedSince);
    if (this.#sockets.has(socket)) for (const message of initial) socket.send(this.#pack(message), false);
  }

  #leaveRows(): void {
    if (this.#rows === null) return;
    this.#rows.viewers -= 1;
    if (this.#rows.viewers > 0) return;
    this.#rows.feed.stop();
    this.#rows = null;
  }

  #join(id: SessionId, sessions: Sessions): Lane {
    const feed = this.#feeds.get(id) ?? new SessionFeed(id, sessions, this.#outlet);
    this.#feeds.set(id, feed);
    return feed.join();
  }

  #leave(id: SessionId, lane: Lane): void {
    const feed = this.#feeds.get(id);
    feed?.leave(lane);
    if (feed === undefined || feed.viewers > 0) return;
    this.#feeds.delete(id);
    feed.stop();
  }

  #joinScreen(id: SessionId, sessions: Sessions): ScreenFeed {
    const feed = this.#screens.get(id) ?? new ScreenFeed(id, sessions, (message) => this.#pack(message), this.#budget);
    this.#screens.set(id, feed);
    return feed;
  }

  #leaveScreen(id: SessionId): void {
    const feed = this.#screens.get(id);
    if (feed === undefined || feed.viewers > 0) return;
    this.#screens.delete(id);
    feed.stop();
  }

  #pack(message: StreamMessage): Uint8Array {
    return this.#packr.pack(message);
  }
}

function isOfScreen(request: StreamRequest): request is ScreenRequest {
  return 'id' in request && request.type !== 'watchSession' && request.type !== 'unwatchSession';
}

/** Whether links permit the request. */
function isPermitted(request: StreamRequest, { ids, handoffs }: LinkScope): boolean {
  if (request.type === 'ping') return true;
  if (!('id' in request)) return false;
  return SHARED.has(request.type) ? ids.has(request.id) : FOR_HANDOFF.has(request.type) && handoffs.has(request.id);
}
