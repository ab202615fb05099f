import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { GiveUpSignal } from '../../actors/actor.js';
import type { Clock } from '../../base/clock.js';
import { nodeLost } from '../../cluster/claim-book.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import { ForwardClient } from '../../cluster/forward-client.js';
import { FORWARD_HEADER, type Forwarded, type ForwardedRequest, ForwardSeal } from '../../cluster/forward-seal.js';
import type { Config } from '../../config.js';
import type { Journal } from '../../journal/journal.js';
import type { NodeInfo } from '../../protocol/answers.js';
import { decodeError, TroupeError } from '../../protocol/errors.js';
import { isEnded, SessionId } from '../../protocol/session.js';
import type { NodeAddress, Nodes } from '../ports/nodes.js';
import type { SessionTable } from '../sessions/index.js';

/** How long an answer of the database is used again, in milliseconds, and for how many sessions. */
const KNOWN_MS = 1_000;
const MAX_KNOWN = 1_000;
/** How long another node may take to stop a session. */
const STOP_MS = 10_000;

interface Known {
  readonly home: NodeAddress;
  readonly atMs: number;
}

interface DirectoryParts {
  readonly cluster: ClusterNode;
  readonly clusterKey: string;
  readonly table: SessionTable;
  readonly journal: Pick<Journal, 'get' | 'joined'>;
  readonly clock: Clock;
}

/** See {@link Nodes}. */
export class NodeDirectory implements Nodes {
  readonly #cluster: ClusterNode;
  readonly #table: SessionTable;
  readonly #journal: Pick<Journal, 'get' | 'joined'>;
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
    if (stored === null) return this.#ofAttempt(id);
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

  /** The node with the artifacts of an attempt at a joined flow. */
  async #ofAttempt(id: string): Promise<NodeAddress | null> {
    const node = (await this.#journal.joined.attempt(id))?.node ?? null;
    if (node === null || node === this.#cluster.id) return null;
    const home = await this.#cluster.address(node);
    if (home === null || home.isLost) throw nodeLost(node);
    return home;
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
    const home = await this.homeOf(id);
    if (home === null) return null;
    const request = { method: 'POST', path: `/sessions/${id}/proxy` };
    const sealed = this.seal(home, { caller: '', role: 'run', session: id, ...request });
    const body = Readable.from([JSON.stringify({ js })]);
    const headers = [[FORWARD_HEADER, sealed]] as const;
    const given = new AbortController();
    const giveUp = () => given.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const ordered = { url: home.url, ...request, headers, body, signal: given.signal };
      const answer = await this.#client.send(ordered);
      const json = await text(answer.body);
      if (answer.status === 200) return json;
      throw decodeError(JSON.parse(json));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof TroupeError ? error : nodeLost(home.id);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async artifactsElsewhere(attempt: string, signal: AbortSignal): Promise<Readable | null> {
    const home = await this.#ofAttempt(attempt);
    const session = SessionId.safeParse(attempt).data;
    if (home === null || session === undefined) return null;
    const request = { method: 'GET', path: `/api/attempts/${attempt}/artifacts` };
    const headers = [[FORWARD_HEADER, this.seal(home, { caller: '', role: 'run', session, ...request })]] as const;
    const ordered = { url: home.url, ...request, headers, body: null, signal };
    const answer = await this.#client.send(ordered).catch(() => {
      throw nodeLost(home.id);
    });
    if (answer.status === 200) return answer.body;
    throw decodeError(JSON.parse(await text(answer.body)));
  }

  /** Stops a session that another node runs, and waits for its end. Does nothing for any other. @throws NODE_LOST */
  async stopElsewhere(id: SessionId): Promise<void> {
    const home = await this.homeOf(id);
    if (home === null) return;
    const request = { method: 'DELETE', path: `/api/sessions/${id}` };
    const sealed = this.seal(home, { caller: '', role: 'run', session: id, ...request });
    const signal = AbortSignal.timeout(STOP_MS);
    try {
      const { url } = home;
      const { body } = await this.#client.send({
        url,
        ...request,
        headers: [[FORWARD_HEADER, sealed]],
        body: null,
        signal,
      });
      body.resume();
    } catch {
      throw nodeLost(home.id);
    }
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
