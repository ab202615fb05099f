import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { SessionId } from '../protocol/session.js';
import type { ShareLink } from '../protocol/share.js';
import type { RequestVault } from './request-vault.js';

/** Id, expiry, seal, and the handoff's id for links of that purpose. */
const LINK = /^([a-z0-9]{12})\.([a-z0-9]{1,9})\.([\w-]{43})(?:\.([\w-]{1,100}))?$/;

export interface ShareLinkParts {
  readonly vault: Pick<RequestVault, 'fingerprint'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The session that a link gives access to, until an instant in milliseconds. */
export interface SharedSession {
  readonly id: SessionId;
  readonly until: number;
  /** The handoff that the link is for; null for links of other purposes. */
  readonly handoff: string | null;
}

/**
 * `share`: a session can be viewed. `trace`: its trace can be viewed. `handoff`: a person does what a script asked for,
 * while that handoff is open.
 */
export type LinkPurpose = 'share' | 'trace' | 'handoff';

/**
 * Links that give people without a token access to one session: `id.expiry.seal`, signed with a key of the home, so
 * links are not stored. A link is valid until its expiry, or until its session is removed. Links of a handoff end with
 * its id: `id.expiry.seal.handoff`; they are of use only while that handoff is open, which the caller checks.
 */
export class ShareLinks {
  readonly #parts: ShareLinkParts;
  readonly #purpose: LinkPurpose;

  /** @param purpose what the links are for: those of one purpose are of no use for the other */
  constructor(parts: ShareLinkParts, purpose: LinkPurpose = 'share') {
    this.#parts = parts;
    this.#purpose = purpose;
  }

  /**
   * @param expiresIn seconds
   * @param handoff the handoff that the link is for, if that is its purpose
   */
  make(id: SessionId, expiresIn: number, handoff: string | null = null): Pick<ShareLink, 'link' | 'expiresAt'> {
    const until = Math.floor(this.#parts.clock.now().getTime() / 1000) + expiresIn;
    const expiresAt = new Date(until * 1000).toISOString();
    const link = `${id}.${until.toString(36)}.${this.#seal(id, until, handoff)}`;
    return { link: handoff === null ? link : `${link}.${handoff}`, expiresAt };
  }

  /** Null for a link that is not of this home and purpose, or has expired. */
  read(link: string): SharedSession | null {
    const shared = this.verify(link);
    return shared !== null && this.isValid(shared) ? shared : null;
  }

  /** As {@link read}, but a link that has expired is returned as well. */
  verify(link: string): SharedSession | null {
    const [, idText, expiry = '', seal = '', handoff = null] = LINK.exec(link) ?? [];
    const id = SessionId.safeParse(idText);
    if (!id.success || (handoff !== null) !== (this.#purpose === 'handoff')) return null;
    const until = Number.parseInt(expiry, 36);
    if (!timingSafeEqual(Buffer.from(this.#seal(id.data, until, handoff)), Buffer.from(seal))) return null;
    return { id: id.data, until: until * 1000, handoff };
  }

  /** Whether the link has not expired. */
  isValid({ until }: SharedSession): boolean {
    return until > this.#parts.clock.now().getTime();
  }

  #seal(id: SessionId, until: number, handoff: string | null): string {
    return this.#parts.vault.fingerprint([this.#purpose, id, until, ...(handoff === null ? [] : [handoff])]);
  }
}
