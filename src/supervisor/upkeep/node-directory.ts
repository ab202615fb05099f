import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { GiveUpSignal } from '../../actors/actor.js';
import type { Clock } from '../../base/clock.js';
import { limitSignal, startLimit } from '../../base/deadline.js';
import { nodeLost } from '../../cluster/claim-book.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import { ForwardClient, type NodeAnswer } from '../../cluster/forward-client.js';
import { FORWARD_HEADER, type Forwarded, type ForwardedRequest, ForwardSeal } from '../../cluster/forward-seal.js';
import type { Config } from '../../config.js';
import type { Journal } from '../../journal/journal.js';
import { type NodeInfo, SessionArtifact } from '../../protocol/answers.js';
import { decodeError, TroupeError } from '../../protocol/errors.js';
import { isEnded, SessionId } from '../../protocol/session.js';
import type { StoredSource } from '../../report/archive.js';
import type { OpenFile } from '../ports/artifacts.js';
import type { NodeAddress, Nodes } from '../ports/nodes.js';
import type { SessionTable } from '../sessions/index.js';

/** How long an answer of the database is used again, in milliseconds, and for how many sessions. */
const KNOWN_MS = 1_000;
const MAX_KNOWN = 1_000;
/** How long another node may take to stop a session. */
const STOP_MS = 10_000;
/** How long another node may take until it begins to send an artifact: it may have to make the report first. */
const ARTIFACT_MS = 60_000;

interface Known {
  readonly home: NodeAddress;
  readonly atMs: number;
}

interface NodeRequest {
  /** Null if it is not about a session. */
  readonly session: SessionId | null;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

interface HomeRequest extends NodeRequest {
  readonly session: SessionId;
}

interface DirectoryParts {
  readonly cluster: ClusterNode;
  readonly clusterKey: string;
  readonly table: SessionTable;
  readonly journal: Pick<Journal, 'get'>;
  readonly clock: Clock;
}

/** See {@link Nodes}. */
export class NodeDirectory implements Nodes {
  readonly #cluster: ClusterNode;
  readonly #table: SessionTable;
  readonly #journal: Pick<Journal, 'get'>;
  readonly #clock: Clock;
  readonly #seal: ForwardSeal;
  readonly #client = new ForwardClient();
  readonly #known = new Map<string, Known>();

  /** Null if this service is alone. */
  static of({
    cluster,
    config,
    ...parts
  }: Omit<DirectoryParts, 'cluster' | 'clusterKey'> & {
    readonly cluster?: ClusterNode | undefined;
    readonly config: Pick<Config, 'clusterKey'>;
  }): NodeDirectory | null {
    const { clusterKey } = config;
    if (cluster === undefined || clusterKey === undefined) return null;
    return new NodeDirectory({ ...parts, cluster, clusterKey });
  }

  constructor(parts: DirectoryParts) {
    this.#cluster = parts.cluster;
    this.#table = parts.table;
    this.#journal = parts.journal;
    this.#clock = parts.clock;
    this.#seal = new ForwardSeal(Buffer.from(parts.clusterKey.trim()), parts);
  }

  isHere(id: string): boolean {
    const parsed = SessionId.safeParse(id);
    return !parsed.success || this.#table.has(parsed.data);
  }

  async homeOf(id: string): Promise<NodeAddress | null> {
    const parsed = SessionId.safeParse(id);
    if (!parsed.success || this.#table.has(parsed.data)) return null;
    const now = performance.now();
    const known = this.#known.get(id);
    if (known !== undefined && now - known.atMs < KNOWN_MS) return known.home;
    const home = await this.#find(parsed.data);
    this.#known.delete(id);
    // It may wait, and be claimed in the next moment.
    if (home === null) return null;
    this.#known.set(id, { home, atMs: now });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    return home;
  }

  get ownId(): string {
    return this.#cluster.id;
  }

  async find(id: string): Promise<NodeAddress | null> {
    const known = await this.#cluster.address(id);
    return known?.isLost ? null : known;
  }

  async #find(id: SessionId): Promise<NodeAddress | null> {
    const stored = await this.#journal.get(id);
    if (stored === null) return null;
    const { status, node, artifacts } = stored.record;
    if (isEnded(status)) {
      // Every node reads them.
      if (artifacts === 'stored') return null;
      // Its files are there. If the node is gone, this one answers from the journal.
      const home = node === undefined || node === this.#cluster.id ? null : await this.#cluster.address(node);
      return home?.isLost ? null : home;
    }
    const holder = await this.#cluster.holder(id);
    if (holder === null || holder.id === this.#cluster.id) return null;
    if (!holder.isLost) return holder;
    throw nodeLost(holder.id);
  }

  seal({ startToken }: NodeAddress, request: ForwardedRequest): string {
    return this.#seal.seal(startToken, request);
  }

  open(header: string, request: Pick<ForwardedRequest, 'method' | 'path'>): Forwarded {
    return this.#seal.open(header, this.#cluster.start.startToken, request);
  }

  /**
   * Runs a script in a session of another node, and returns the JSON text of its result; null if the session is not
   * elsewhere.
   * @throws what the script's node answers; NODE_LOST
   */
  async runElsewhere(id: SessionId, js: string, signal: GiveUpSignal): Promise<string | null> {
    const given = new AbortController();
    const giveUp = () => given.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const order = { session: id, method: 'POST', path: `/sessions/${id}/proxy`, body: JSON.stringify({ js }) };
      return await this.#askHome(order, given.signal, text);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /**
   * Stops a session that another node runs, and waits for its end.
   * @returns false if it is not elsewhere
   * @throws NODE_LOST; what the node answers
   */
  async stopElsewhere(id: SessionId): Promise<boolean> {
    const order = { session: id, method: 'DELETE', path: `/api/sessions/${id}?purge=never`, body: null };
    return (await this.#askHome(order, limitSignal(STOP_MS), text)) !== null;
  }

  /** The artifacts of a session that another node has, for a zip; null if they are not elsewhere. @throws NODE_LOST */
  async artifactsElsewhere(id: SessionId): Promise<StoredSource | null> {
    const path = `/api/sessions/${id}/artifacts`;
    const get = <T>(path: string, read: (body: Readable) => T) => {
      const ended = new AbortController();
      // The file itself may take any time: who reads the zip may be slow.
      const cancel = startLimit(ARTIFACT_MS, () => ended.abort());
      return this.#askHome({ session: id, method: 'GET', path, body: null }, ended.signal, read).finally(cancel);
    };
    const listed = await get(path, text);
    if (listed === null) return null;
    const open = async ({ path: name, modifiedAt }: SessionArtifact) => {
      const encoded = name.split('/').map(encodeURIComponent).join('/');
      const content = await get(`${path}/${encoded}`, (body) => body).catch(unlessGone);
      return content === null ? null : { content, modifiedAt: new Date(modifiedAt) };
    };
    const files = SessionArtifact.array().parse(JSON.parse(listed));
    return { files: async () => files.map((file) => ({ name: file.path, open: () => open(file) })) };
  }

  /**
   * A file of another node. Its stream fails with NODE_LOST if the node stops answering.
   * @param path of a GET
   * @throws NODE_LOST; what that node answers, such as NOT_FOUND
   */
  async fileOf(node: string, path: string): Promise<OpenFile> {
    const home = await this.find(node);
    if (home === null) throw new TroupeError('NODE_LOST', `The node ${node}, which has the file, is gone`);
    const lost = (cause: unknown) =>
      new TroupeError('NODE_LOST', `The node ${node}, which has the file, does not answer`, undefined, { cause });
    const ended = new AbortController();
    const cancel = startLimit(ARTIFACT_MS, () => ended.abort());
    try {
      const request = { session: null, method: 'GET', path, body: null };
      const { body, bytes } = await this.#ask(home, request, ended.signal);
      if (bytes !== undefined) return { bytes, stream: failingWith(body, lost) };
      body.destroy();
      throw lost('Its answer has no length');
    } catch (error) {
      // A node that has just started again does not take what was sealed for its former start.
      throw error instanceof TroupeError && error.code !== 'UNAUTHORIZED' ? error : lost(error);
    } finally {
      cancel();
    }
  }

  /**
   * Asks the node of a session something in the name of this node.
   * @param read what becomes of the body of its answer
   * @returns null if the session is not elsewhere
   * @throws what that node answers; NODE_LOST
   */
  async #askHome<T>(
    request: HomeRequest,
    signal: AbortSignal,
    read: (body: Readable) => T | Promise<T>,
  ): Promise<T | null> {
    const home = await this.homeOf(request.session);
    if (home === null) return null;
    try {
      return await read((await this.#ask(home, request, signal)).body);
    } catch (error) {
      // A start that has just replaced another one does not know what was sealed for that one.
      const isAnswer = error instanceof TroupeError && error.code !== 'UNAUTHORIZED';
      throw isAnswer ? error : nodeLost(home.id);
    }
  }

  /** @throws what the node answers; any other error if it does not */
  async #ask(
    home: NodeAddress,
    { session, method, path, body }: NodeRequest,
    signal: AbortSignal,
  ): Promise<NodeAnswer> {
    const sealed = this.seal(home, { caller: '', role: method === 'GET' ? 'view' : 'run', session, method, path });
    const headers = [[FORWARD_HEADER, sealed]] as const;
    const sent = body === null ? null : Readable.from([body]);
    const answer = await this.#client.send({ url: home.url, method, path, headers, body: sent, signal });
    if (answer.status < 300) return answer;
    throw decodeError(JSON.parse(await text(answer.body)));
  }

  /** Ends connections to other nodes. Idempotent. */
  close(): void {
    this.#client.close();
  }

  async list(): Promise<readonly NodeInfo[]> {
    const now = this.#clock.now().getTime();
    return (await this.#cluster.nodes()).map(({ id, url, version, state, slots, running, seenMsAgo }) => {
      const seen = new Date(now - seenMsAgo).toISOString();
      return { id, url, version, state, places: slots, running, seen };
    });
  }

  async drain(id: string): Promise<NodeInfo> {
    const drained = await this.#cluster.drain(id);
    const info = await this.#info(id);
    if (!drained) throw new TroupeError('INVALID_REQUEST', `The node ${id} is lost; remove it instead`);
    return info;
  }

  async remove(id: string): Promise<void> {
    const { state } = await this.#info(id);
    if (await this.#cluster.remove(id)) return;
    throw new TroupeError(
      'INVALID_REQUEST',
      state === 'lost'
        ? `Other nodes still take over the sessions of ${id}; try again in a few seconds`
        : `The node ${id} is running; drain it instead`,
    );
  }

  async #info(id: string): Promise<NodeInfo> {
    const info = (await this.list()).find((node) => node.id === id);
    if (info === undefined) throw new TroupeError('NOT_FOUND', `There is no node '${id.slice(0, 60)}'`);
    return info;
  }
}

/** The same stream, with another error. Destroying it destroys the source. */
function failingWith(source: Readable, convert: (error: unknown) => Error): Readable {
  const through = new PassThrough();
  source.on('error', (error) => through.destroy(convert(error)));
  through.once('close', () => source.destroy());
  return source.pipe(through);
}

/** A file of a running session may be gone since it was listed. */
function unlessGone(error: unknown): null {
  if (error instanceof TroupeError && error.code === 'NOT_FOUND') return null;
  throw error;
}
