import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { SessionId } from '../protocol/session.js';
import type { ShareLink } from '../protocol/share.js';
import type { RequestVault } from './request-vault.js';

export interface ShareLinkParts {
  readonly vault: Pick<RequestVault, 'fingerprint'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The session that a link gives access to, until an instant in milliseconds. */
export interface SharedSession {
  readonly id: SessionId;
  readonly until: number;
}

/**
 * Links that give people without a token access to one session: `id.expiry.seal`, signed with a key of the home, so
 * links are not stored. A link is valid until its expiry, or until its session is removed.
 */
export class ShareLinks {
  readonly #parts: ShareLinkParts;
  readonly #purpose: 'share' | 'trace';

  /** @param purpose what the links are for: those of one purpose are of no use for the other */
  constructor(parts: ShareLinkParts, purpose: 'share' | 'trace' = 'share') {
    this.#parts = parts;
    this.#purpose = purpose;
  }

  /** @param expiresIn seconds */
  make(id: SessionId, expiresIn: number): Pick<ShareLink, 'link' | 'expiresAt'> {
    const until = Math.floor(this.#parts.clock.now().getTime() / 1000) + expiresIn;
    const expiresAt = new Date(until * 1000).toISOString();
    return { link: `${id}.${until.toString(36)}.${this.#seal(id, until)}`, expiresAt };
  }

  /** Null for a link that is not of this home, or has expired. */
  read(link: string): SharedSession | null {
    const [, idText, expiry = '', seal = ''] = /^([a-z0-9]{12})\.([a-z0-9]{1,9})\.([\w-]{43})$/.exec(link) ?? [];
    const id = SessionId.safeParse(idText);
    const until = Number.parseInt(expiry, 36);
    if (!id.success || !timingSafeEqual(Buffer.from(this.#seal(id.data, until)), Buffer.from(seal))) return null;
    return until * 1000 > this.#parts.clock.now().getTime() ? { id: id.data, until: until * 1000 } : null;
  }

  #seal(id: SessionId, until: number): string {
    return this.#parts.vault.fingerprint([this.#purpose, id, until]);
  }
}
