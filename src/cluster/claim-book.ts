import type { JournalBatch, WriteRights } from '../journal/journal.js';
import { encodeError, TroupeError } from '../protocol/errors.js';
import { isEnded } from '../protocol/session.js';
import type { Claim, NodeStart } from './cluster-store.js';

/** What follows from the outcomes of writes. */
export interface ClaimEvents {
  /** A live session was accepted with its claim. */
  created(claim: Claim): void;
  /** A write was refused, because another node has the session. */
  lost(sessionId: string): void;
}

interface Entry {
  readonly token: string;
  /** The claim was given up with the session's end, or to queue the job again: nothing more is written. */
  isOver: boolean;
}

/** The claims that this node holds, for the writes about their sessions. */
export class ClaimBook {
  readonly #entries = new Map<string, Entry>();
  readonly #start: () => NodeStart;
  readonly #newToken: () => string;
  readonly #events: ClaimEvents;

  constructor(parts: { start(): NodeStart; newToken(): string } & ClaimEvents) {
    this.#start = () => parts.start();
    this.#newToken = () => parts.newToken();
    this.#events = parts;
  }

  add({ sessionId, token }: Claim): void {
    this.#entries.set(sessionId, { token, isOver: false });
  }

  /** Null if there was none. */
  remove(sessionId: string): Claim | null {
    const entry = this.#entries.get(sessionId);
    this.#entries.delete(sessionId);
    return entry === undefined ? null : { sessionId, token: entry.token };
  }

  holds({ sessionId, token }: Claim): boolean {
    return this.#entries.get(sessionId)?.token === token;
  }

  clear(): void {
    this.#entries.clear();
  }

  /**
   * The rights that a batch needs; undefined if it is not about sessions.
   * @throws NODE_LOST if this node does not hold a session
   */
  rightsFor({ records = [], requests = [], events = [] }: JournalBatch): WriteRights | undefined {
    if (records.length + events.length === 0) return undefined;
    const callers = new Map(requests.map(({ sessionId, caller }): [string, string] => [sessionId, caller]));
    const created: WriteRights['created'][number][] = [];
    const queued: WriteRights['queued'][number][] = [];
    const requeued: string[] = [];
    const ended: string[] = [];
    const changed = new Set<string>(events.map(([sessionId]) => sessionId));
    for (const { record } of records) {
      const caller = callers.get(record.id);
      changed.add(record.id);
      if (caller === undefined) {
        if (record.status === 'queued') requeued.push(record.id);
        if (isEnded(record.status)) ended.push(record.id);
        continue;
      }
      if (record.status === 'queued') queued.push({ sessionId: record.id, caller });
      else created.push({ ...this.#new(record.id), caller });
    }
    const held = [...changed]
      .filter((sessionId) => !callers.has(sessionId))
      .map((sessionId) => ({ sessionId, token: this.#tokenOf(sessionId) }));
    const { id: node, startToken } = this.#start();
    return { node, startToken, held, created, queued, requeued, ended };
  }

  /** The batch with these rights is on disk. */
  written({ created, requeued, ended }: WriteRights): void {
    for (const { sessionId, token } of created) this.#events.created({ sessionId, token });
    for (const sessionId of [...requeued, ...ended]) {
      const entry = this.#entries.get(sessionId);
      if (entry !== undefined) entry.isOver = true;
    }
  }

  /** The batch with these rights was not written. */
  refused(error: unknown, rights: WriteRights | undefined): void {
    const { code, details } = encodeError(error);
    if (code !== 'NODE_LOST' || !Array.isArray(details?.sessions)) return;
    const used = new Map(rights?.held.map(({ sessionId, token }) => [sessionId, token]));
    for (const sessionId of details.sessions) {
      if (typeof sessionId !== 'string') continue;
      const token = this.#entries.get(sessionId)?.token;
      // A write may have waited until this node had claimed the session again, with another token.
      if (token === undefined || !used.has(sessionId) || token === used.get(sessionId)) this.#events.lost(sessionId);
    }
  }

  #new(sessionId: string): Claim {
    const claim = { sessionId, token: this.#newToken() };
    this.add(claim);
    return claim;
  }

  #tokenOf(sessionId: string): string {
    const entry = this.#entries.get(sessionId);
    if (entry !== undefined && !entry.isOver) return entry.token;
    throw new TroupeError(
      'NODE_LOST',
      `This node, ${this.#start().id}, does not have the session, and writes nothing about it`,
    );
  }
}

/** The error of callers of a session whose node is gone. */
export function nodeLost(node: string | undefined): TroupeError {
  const which = node === undefined ? 'The node of the session' : `The node ${node}, which ran the session,`;
  return new TroupeError('NODE_LOST', `${which} is gone, and its browser with it; create a new session`);
}
