import { type ConnectionSettings, DIRECT } from '#troupe/config/connection-settings.js';
import type { SendSettings } from '../request.js';
import type { ReachBounds } from '../run/reach-bounds.js';
import type { RequestTarget } from '../run/request-target.js';
import type { HttpProtocol, Route } from './open-socket.js';
import { ProxyRules } from './proxy-rules.js';
import { TlsIdentities } from './tls-identities.js';

/** Finds the way to each server, by settings that are read once. */
export class Routes {
  readonly #proxies: ProxyRules;
  readonly #identities: TlsIdentities;

  constructor(settings: ConnectionSettings = DIRECT) {
    this.#proxies = new ProxyRules(settings.proxy);
    this.#identities = new TlsIdentities(settings);
  }

  /**
   * Limits apply to proxies, too: a proxy never looks up a name for a limited request, but gets an address that was
   * checked, and what is not reached through a proxy is reached directly.
   * @throws REQUEST_FAILED if a proxy or certificate cannot be used, or the host is blocked
   */
  async find(
    target: RequestTarget,
    { verifyTls, httpVersion }: SendSettings,
    reach: ReachBounds | null,
  ): Promise<Route> {
    const configured = this.#proxies.proxyFor(target);
    const checked = configured === null || reach === null ? null : await reach.addressFor(target);
    const proxy = reach !== null && checked === null ? null : configured;
    return {
      target,
      proxy,
      tunnelTo: proxy === null ? null : (checked ?? (target.secure ? target.hostname : null)),
      verifyTls,
      identity: target.secure ? await this.#identities.contextFor(target) : undefined,
      protocols: PROTOCOLS[httpVersion ?? 'auto'],
      ...(reach === null ? {} : { lookup: reach.lookup(target.port), guard: (socket) => reach.guard(socket, target) }),
    };
  }
}

const PROTOCOLS: Readonly<Record<'auto' | 'http1' | 'http2', readonly HttpProtocol[]>> = {
  auto: ['h2', 'http/1.1'],
  http1: ['http/1.1'],
  http2: ['h2'],
};
