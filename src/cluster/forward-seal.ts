import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { Role } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import { SessionId } from '../protocol/session.js';
import { NonceMemory } from './nonce-memory.js';

/** The one header of a forwarded request. Requests of clients that carry it are refused. */
export const FORWARD_HEADER = 'x-troupe-forward';

/** A sealed request is valid this long, and clocks may differ by as much. */
export const FORWARD_VALID_MS = 30_000;

const VERSION = 'v1';
const NONCE_BYTES = 16;
const MAX_HEADER_CHARACTERS = 4_096;

/** On whose behalf a node forwards a request, and which request. */
export interface ForwardedRequest {
  /** The caller's id, for fairness, limits and ownership; never a token. */
  readonly caller: string;
  readonly role: Role;
  readonly session: SessionId | null;
  /** The open handoff of the session whose link admits the caller, if a link does. */
  readonly handoff?: string | undefined;
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

const Sealed = z.strictObject({
  to: z.string().max(200),
  caller: z.string().max(200),
  role: Role,
  session: SessionId.nullable(),
  handoff: z.string().max(100).optional(),
  time: z.int().min(0),
  nonce: z.string().length(22),
});

/** What a verified header says. */
export type Forwarded = Pick<z.infer<typeof Sealed>, 'caller' | 'role' | 'session' | 'handoff'>;

/**
 * Authenticates requests that a node passes on to another: `v1.<JSON>.<MAC>`, keyed by the cluster key. The MAC covers who
 * asks, with which role, about which session, method and path, the time, a nonce, and the start that it is meant for. So a
 * header is accepted once, by one start of one node: nonces need not survive a restart. The body is not covered: between
 * machines there must be TLS or an encrypted network.
 */
export class ForwardSeal {
  readonly #key: Buffer;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #nonces: Pick<NonceMemory, 'accept'>;

  /**
   * @param clusterKey the secret that all nodes share
   * @param nonces of this start; shared by all servers of the process
   */
  constructor(
    clusterKey: Buffer,
    {
      clock,
      nonces = new NonceMemory(FORWARD_VALID_MS),
    }: { readonly clock: Pick<Clock, 'now'>; readonly nonces?: Pick<NonceMemory, 'accept'> },
  ) {
    this.#key = Buffer.from(hkdfSync('sha256', clusterKey, '', 'troupe forwarding', 32));
    this.#clock = clock;
    this.#nonces = nonces;
  }

  /** @param to the start token of the node that is to answer */
  seal(to: string, { caller, role, session, handoff, method, path }: ForwardedRequest): string {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const sealed: z.infer<typeof Sealed> = { to, caller, role, session, handoff, time: this.#nowMs(), nonce };
    const payload = Buffer.from(JSON.stringify(sealed)).toString('base64url');
    return `${VERSION}.${payload}.${this.#mac(payload, method, path).toString('base64url')}`;
  }

  /**
   * Verifies the header of a request that arrived, and uses it up.
   * @param to this node's start token
   * @throws UNAUTHORIZED for everything that another node did not seal just now for exactly this request
   */
  open(header: string, to: string, { method, path }: Pick<ForwardedRequest, 'method' | 'path'>): Forwarded {
    const [version, payload = '', mac = '', ...rest] = header.length <= MAX_HEADER_CHARACTERS ? header.split('.') : [];
    const given = Buffer.from(mac, 'base64url');
    const expected = this.#mac(payload, method, path);
    if (version !== VERSION || rest.length > 0 || given.length !== expected.length)
      throw refused('it is not a valid seal');
    // One text for one seal: base64url ignores some bits of the last character.
    if (!timingSafeEqual(given, expected) || given.toString('base64url') !== mac) {
      throw refused('its seal does not match the request; all nodes need the same cluster key');
    }
    const parsed = Sealed.safeParse(readJson(payload));
    if (!parsed.success) throw refused('it was sealed by an incompatible version');
    const { time, nonce, caller, role, session, handoff } = parsed.data;
    if (parsed.data.to !== to) throw refused('it is for another node, or for a former start of this one');
    const nowMs = this.#nowMs();
    if (Math.abs(nowMs - time) > FORWARD_VALID_MS) throw refused('it has expired, or the clocks of the nodes differ');
    if (!this.#nonces.accept(nonce, time, nowMs)) throw refused('it was used before');
    return { caller, role, session, handoff };
  }

  #nowMs(): number {
    return this.#clock.now().getTime();
  }

  #mac(payload: string, method: string, path: string): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([VERSION, payload, method, path]))
      .digest();
  }
}

/** Public: reveals nothing about the key. Nodes compare it when they register. */
export function keyFingerprint(clusterKey: Buffer): string {
  return Buffer.from(hkdfSync('sha256', clusterKey, '', 'troupe cluster fingerprint', 16)).toString('base64url');
}

/** The client's headers that are passed on: none that authenticates, and none of this hop. */
export function forwardedHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): readonly (readonly [name: string, value: string])[] {
  const named = headers.flatMap(([name, value]) =>
    name.toLowerCase() === 'connection' ? value.split(',').map((word) => word.trim().toLowerCase()) : [],
  );
  const left = new Set([...NOT_FORWARDED, ...named]);
  return headers.filter(([name]) => !left.has(name.toLowerCase()));
}

const NOT_FORWARDED = [
  'authorization',
  'cookie',
  'proxy-authorization',
  FORWARD_HEADER,
  'host',
  'origin',
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

function readJson(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function refused(why: string): TroupeError {
  return new TroupeError('UNAUTHORIZED', `The header ${FORWARD_HEADER} is refused: ${why}`);
}
