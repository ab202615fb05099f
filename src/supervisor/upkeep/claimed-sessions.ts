import type { AccessTokens } from '../../auth/access-tokens.js';
import { pause } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import type { Claim } from '../../cluster/cluster-store.js';
import type { NodeWork } from '../../cluster/node-work.js';
import type { StoredSession, WaitingSession } from '../../journal/journal.js';
import { eventRow } from '../../protocol/event-row.js';
import { isEnded, SessionId } from '../../protocol/session.js';
import type { SharedFlows } from '../artifacts/index.js';
import { nodeLostEnd, type QueuedJob, type SessionTable } from '../sessions/index.js';
import { type LeftSessions, type Recovered, type RecoveryParts, recoverSessions } from './recovery.js';

/** The delay before a failed read is repeated, in milliseconds. */
const RETRY_MS = 1_000;

/** What a node needs to work on its claims. */
export interface ClaimedSessionsParts extends RecoveryParts {
  readonly cluster: ClusterNode;
  readonly table: SessionTable;
  readonly recovered: Recovered;
  readonly tokens: Pick<AccessTokens, 'limitsOf'>;
  /** See `JobQueue.forget`. */
  forget(job: QueuedJob): void;
  /** Notified of each renewal, as the service is by `renewed`. */
  readonly shared: Pick<SharedFlows, 'refresh'> | undefined;
  readonly batches: Pick<NodeWork, 'renewed'>;
  renewed?: NodeWork['renewed'];
}

/** What this node does with the sessions that it has claimed, of several nodes that share the database. */
export class ClaimedSessions implements NodeWork {
  readonly #parts: ClaimedSessionsParts;
  #hasAnnounced = false;

  private constructor(parts: ClaimedSessionsParts) {
    this.#parts = parts;
  }

  /** Recovers what an earlier start of this node left, then takes work from the queue of all nodes. */
  static async serve(parts: ClaimedSessionsParts): Promise<void> {
    const { cluster, recovered } = parts;
    const claimed = new ClaimedSessions(parts);
    await recoverSessions(parts, recovered, await claimed.#left(cluster.takeInherited()), { sweeps: true });
    cluster.serve(claimed);
  }

  /** What an earlier start on this home left. @throws the journal's error */
  async #left(claims: readonly Claim[]): Promise<LeftSessions> {
    const waiting: WaitingSession[] = [];
    const sessions: StoredSession[] = [];
    for (const claim of claims) {
      const found = await this.#read(claim);
      if (found === null) await this.#parts.cluster.drop(claim);
      else if ('record' in found) sessions.push(found);
      else waiting.push(found);
    }
    return { waiting, sessions, damaged: [] };
  }

  run(claim: Claim): void {
    void this.#continue(claim);
  }

  recover(claim: Claim): void {
    void this.#continue(claim);
  }

  maxRunning(caller: string): number | undefined {
    return this.#parts.tokens.limitsOf(caller).running;
  }

  lost(sessionId: string): void {
    void this.#end(sessionId);
  }

  async stop(): Promise<void> {
    const { table } = this.#parts;
    await Promise.all(table.allIds().map((id) => this.#end(id)));
  }

  news(lastSeq: number): void {
    this.#parts.hub.foreignEvents(lastSeq);
  }

  renewed(state: { readonly doesChores: boolean }): void {
    if (this.#parts.cluster.isDraining && !this.#hasAnnounced) this.#announceDrain();
    const { shared, batches, renewed } = this.#parts;
    void shared?.refresh();
    batches.renewed(state);
    renewed?.(state);
  }

  #announceDrain(): void {
    this.#hasAnnounced = true;
    const { table, hub, clock, cluster, log } = this.#parts;
    const at = clock.now().toISOString();
    const live = table.allLiving().filter(({ record }) => record.mode === 'live' && record.status === 'running');
    const rows = live.map(({ record }) =>
      eventRow(record.id, { type: 'NodeDraining', data: { node: cluster.id } }, at),
    );
    hub.add(rows, (error) => log(`sessions were not told that this node leaves: ${sentenceOf(error)}`));
  }

  /** The session is another node's: everything of it ends here, and nothing is written. Never rejects. */
  async #end(id: string): Promise<void> {
    const { table, forget, cluster } = this.#parts;
    const sessionId = SessionId.safeParse(id).data;
    const queued = sessionId === undefined ? undefined : table.queued(sessionId);
    const living = sessionId === undefined ? undefined : table.living(sessionId);
    if (queued !== undefined) forget(queued);
    else if (living === undefined) cluster.release(id);
    else {
      await living.end(nodeLostEnd(cluster.id), 'immediate');
      await living.gone();
    }
  }

  /** Never rejects. While the journal cannot be read, tries again, until the claim is lost. */
  async #continue(claim: Claim): Promise<void> {
    const { cluster, recovered, log, clock } = this.#parts;
    while (cluster.book.holds(claim)) {
      try {
        const found = await this.#read(claim);
        if (!cluster.book.holds(claim)) return;
        if (found === null) await cluster.drop(claim);
        else if ('record' in found) {
          const left = { waiting: [], sessions: [found], damaged: [] };
          await recoverSessions(this.#parts, recovered, left, { sweeps: false });
        } else recovered.queue(found);
        return;
      } catch (error) {
        log(`its claim waits because of a journal error: ${sentenceOf(error)}`, { session: claim.sessionId });
        await pause(RETRY_MS, { clock });
      }
    }
  }

  /** Null if there is nothing left to do for it. @throws the journal's error */
  async #read({ sessionId }: Claim): Promise<StoredSession | WaitingSession | null> {
    const { journal } = this.#parts;
    const id = SessionId.safeParse(sessionId).data;
    const stored = id === undefined ? null : await journal.get(id);
    if (stored === null || isEnded(stored.record.status)) return null;
    if (stored.record.status === 'running') return stored;
    const { record } = stored;
    const { caller = '' } = (await journal.request(record.id)) ?? {};
    return { id: record.id, batch: record.batch, caller };
  }
}
