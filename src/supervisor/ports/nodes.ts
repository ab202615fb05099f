import type { Forwarded, ForwardedRequest } from '../../cluster/forward-seal.js';
import type { NodeAddress } from '../../cluster/postgres-cluster-store.js';
import type { NodeInfo } from '../../protocol/answers.js';

export type { NodeAddress } from '../../cluster/postgres-cluster-store.js';

/** The services that share the database, and which of them answers what. */
export interface Nodes {
  readonly ownId: string;
  /** Whether requests about the session are answered here, as far as is known without asking the database. */
  isHere(id: string): boolean;
  /** The node that answers requests about a session; null: this one. @throws NODE_LOST if that node is gone */
  homeOf(id: string): Promise<NodeAddress | null>;
  /** A node that is up, by its id; null if there is none. */
  find(id: string): Promise<NodeAddress | null>;
  /** The header that authenticates a request that is passed on. */
  seal(to: NodeAddress, request: ForwardedRequest): string;
  /** Verifies the header of a request that another node passed on. @throws UNAUTHORIZED */
  open(header: string, request: Pick<ForwardedRequest, 'method' | 'path'>): Forwarded;
  list(): Promise<readonly NodeInfo[]>;
  /** The node takes no more work, and leaves when its sessions have ended. @throws NOT_FOUND */
  drain(id: string): Promise<NodeInfo>;
  /** Removes a node that is lost. @throws NOT_FOUND; INVALID_REQUEST if it is not lost, or others still take over its sessions */
  remove(id: string): Promise<void>;
}
