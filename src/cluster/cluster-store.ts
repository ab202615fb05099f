/** One start of a node. The id is stable; the start token is fresh for each start, and after each fencing. */
export interface NodeStart {
  readonly id: string;
  readonly startToken: string;
}

/** What a node registers with. */
export interface NodeDescription extends NodeStart {
  /** Identifies the home folder: a new start on the same home may replace one that still seems to renew. */
  readonly home: string;
  /** The URL at which other nodes reach this one. */
  readonly url: string;
  readonly version: string;
  /** The generation of the schema that this version writes; see `schemaVerdict`. */
  readonly schema: number;
  readonly slots: number;
  /** The fingerprint of the cluster key, equal on all nodes. */
  readonly keyFingerprint: string;
}

/**
 * The right to write about a session. Every write carries the token, and a write whose token is no longer the claim's
 * changes nothing. That holds for a node that was frozen and wakes up too, which no lease can promise.
 */
export interface Claim {
  readonly sessionId: string;
  /** Fresh for each claim: a session that is claimed again, even by the same node, has another token. */
  readonly token: string;
}

/**
 * The answer to a registration. `inherited` are the former start's claims, with fresh tokens. `superseded`: another start of
 * the id has registered meanwhile.
 */
export type Registration =
  | { readonly kind: 'joined'; readonly inherited: readonly Claim[] }
  | { readonly kind: 'superseded' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

/**
 * `running-elsewhere`: another home uses the id and renews. `other-key`: the cluster key differs from the cluster's.
 * `not-shared`: a service without `node` has the database for itself.
 */
export type RefusalReason = 'running-elsewhere' | 'other-key' | 'not-shared';

/** The answer to a renewal. `lost`: the start has been declared lost or replaced, and has no claims any more. */
export type Renewal =
  | {
      readonly kind: 'renewed';
      readonly draining: boolean;
      /** All claims of this start, among them any whose answer to `claim` did not arrive. */
      readonly claims: readonly Claim[];
    }
  | { readonly kind: 'lost' };

export type NodeState = 'up' | 'draining' | 'lost';

/** A member as others see it. */
export interface NodeStatus {
  readonly id: string;
  readonly url: string;
  readonly version: string;
  readonly state: NodeState;
  readonly slots: number;
  readonly running: number;
  /** Milliseconds since the last renewal, by the database's clock. */
  readonly seenMsAgo: number;
}

/**
 * The shared truth about members, queue and claims. Each call is one transaction, by the database's clock. A call that
 * fails may have been executed; calls are safe to repeat.
 */
export interface ClusterStore {
  /** The start token of the node that is registered with this id; null if there is none. */
  startOf(id: string): Promise<string | null>;
  /**
   * Registers a start in place of `former`. A registration that was delayed, and comes after that of a later start,
   * changes nothing: the former start it names is no longer there.
   */
  register(node: NodeDescription, former: string | null): Promise<Registration>;
  /** Renews the node and, with it, all its claims: a claim is valid as long as its node's start is. */
  renew(start: NodeStart): Promise<Renewal>;
  /** At most `count` queued jobs, fairly shared among callers over all nodes; none for a start that is not up. */
  claim(start: NodeStart, count: number): Promise<readonly Claim[]>;
  /** Starts of nodes that seem lost and still have claims, or are not marked as lost yet. */
  expired(): Promise<readonly NodeStart[]>;
  /**
   * Declares `victim` lost, if it still is, and gives at most `limit` of its claims to `start`, with fresh tokens.
   * `start` decides what becomes of each; if it dies before, its claims expire in turn.
   */
  takeOver(start: NodeStart, victim: NodeStart, limit: number): Promise<readonly Claim[]>;
  /** From now on the node gets no claims. False if there is no such node, or it is lost. */
  drain(id: string): Promise<boolean>;
  /** Removes a node that left, or that is lost and has no claims. False if it was not removed. */
  remove(id: string): Promise<boolean>;
  /** Removes the start from the members if it has no claims left. */
  leave(start: NodeStart): Promise<boolean>;
  nodes(): Promise<readonly NodeStatus[]>;
}
