import { lookup, type RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { onAbort, withDeadline, withSignal } from '../../base/deadline.js';
import { errorCode } from '../../base/system-fault.js';
import { LookUpLanes } from './lookup-lanes.js';
import type { SystemNames } from './system-names.js';

/** What is known of a name: its addresses, none where it has none, and how long that holds. */
export interface NameAnswer {
  readonly addresses: readonly string[];
  /** In seconds; null for what says nothing about the name, since nobody came to ask in time. */
  readonly ttlS: number | null;
}

/** The DNS servers to ask; without any those of the system, whose resolv.conf also says how often and how long. */
export interface DnsSetting {
  readonly servers?: readonly string[];
  readonly timeoutMs?: number;
  readonly tries?: number;
}

/** How the system itself looks a name up; an empty list where it has no addresses. It cannot be given up. */
export type SystemLookUp = (name: string) => Promise<readonly string[]>;

/** A whole look-up; what DNS does not say by then it does not say. */
const LOOK_UP_MS = 10_000;
/** DNS says how long an address holds, but neither the system nor this resolver how long it holds that there is none. */
const UNKNOWN_TTL_S = 5;
/** Servers that did not answer may do so the next moment. */
const FAILED_TTL_S = 1;
/** The process has four threads for getaddrinfo and for its files. */
const SYSTEM_LANES = { all: 2, each: 1, waiting: 64 };

const NOT_ASKED: NameAnswer = { addresses: [], ttlS: null };

type DnsOutcome =
  | { readonly kind: 'found'; readonly answer: NameAnswer }
  /** There is no such name, or it has no address. */
  | { readonly kind: 'none' }
  /** The server could not say. */
  | { readonly kind: 'refused' }
  /** No server answered: asking on would only take longer. */
  | { readonly kind: 'silent' };

/**
 * Looks one name up as getaddrinfo would: in the hosts file, then in DNS with the system's search domains. DNS goes through
 * sockets of its own, so that servers that do not answer hold up nothing but the names that ask them. Names that other
 * sources of nsswitch.conf may know (`.local`, this machine's own, or any) are asked of getaddrinfo itself, which holds
 * a thread of the process for as long as it likes: two at a time, and one for each session.
 */
export class NameResolver {
  readonly #names: SystemNames;
  readonly #dns: DnsSetting;
  readonly #system: SystemLookUp;
  readonly #systemLanes = new LookUpLanes(SYSTEM_LANES);

  constructor(names: SystemNames, dns: DnsSetting = {}, system: SystemLookUp = getAddresses) {
    this.#names = names;
    this.#dns = dns;
    this.#system = system;
  }

  /** The addresses that the hosts file has for a name. */
  listed(name: string): readonly string[] | undefined {
    return this.#names.listed(name);
  }

  /** Whether the look-up of a name takes as long for every session, however many names each looks up beside it. */
  isShareable(name: string): boolean {
    return this.#names.source(name) === 'dns';
  }

  /** Rejects with the signal's reason, and only then. */
  async resolve(name: string, session: string, signal: AbortSignal): Promise<NameAnswer> {
    try {
      return await withSignal({ signals: [signal], ms: LOOK_UP_MS }, (cut) => this.#ask(name, session, cut));
    } catch {
      signal.throwIfAborted();
      return NOT_ASKED;
    }
  }

  async #ask(name: string, session: string, signal: AbortSignal): Promise<NameAnswer> {
    const source = this.#names.source(name);
    if (source === 'system') return this.#askSystem(name, session, signal);
    const outcome = await this.#askDns(name, signal);
    if (outcome.kind === 'found') return outcome.answer;
    if (source === 'dns, system' && outcome.kind !== 'silent') return this.#askSystem(name, session, signal);
    return { addresses: [], ttlS: outcome.kind === 'none' ? UNKNOWN_TTL_S : FAILED_TTL_S };
  }

  async #askDns(name: string, signal: AbortSignal): Promise<DnsOutcome> {
    let refused = false;
    for (const spelling of this.#names.spellings(name)) {
      signal.throwIfAborted();
      const outcome = await this.#query(spelling, signal);
      if (outcome.kind === 'found' || outcome.kind === 'silent') return outcome;
      if (outcome.kind === 'refused') refused = true;
    }
    signal.throwIfAborted();
    return { kind: refused ? 'refused' : 'none' };
  }

  async #query(name: string, signal: AbortSignal): Promise<DnsOutcome> {
    const { servers, timeoutMs = -1, tries } = this.#dns;
    // One for each query: its end ends no other, and the system's servers are those of this moment.
    const resolver = new Resolver({ timeout: timeoutMs, ...(tries === undefined ? {} : { tries }) });
    if (servers !== undefined) resolver.setServers(servers);
    const forget = onAbort(signal, () => resolver.cancel());
    try {
      const answers = await Promise.all([
        recordsOf(resolver.resolve4(name, { ttl: true })),
        recordsOf(resolver.resolve6(name, { ttl: true })),
      ]);
      const records = answers.flatMap(({ found }) => found);
      if (records.length > 0) {
        const ttlS = Math.min(...records.map(({ ttl }) => ttl));
        return { kind: 'found', answer: { addresses: records.map(({ address }) => address), ttlS } };
      }
      const faults = answers.map(({ fault }) => faultKind(fault));
      return { kind: faults.find((kind) => kind === 'silent') ?? faults.find((kind) => kind === 'refused') ?? 'none' };
    } finally {
      forget();
    }
  }

  async #askSystem(name: string, session: string, signal: AbortSignal): Promise<NameAnswer> {
    const leave = await this.#systemLanes.enter(session, signal);
    if (leave === null || signal.aborted) {
      leave?.();
      return NOT_ASKED;
    }
    // The place is free when the thread is, whoever still waits.
    const found = this.#system(name).finally(leave);
    const addresses = await withDeadline(
      found.catch(() => []),
      { signal },
    );
    return { addresses, ttlS: addresses.length > 0 ? UNKNOWN_TTL_S : FAILED_TTL_S };
  }
}

async function recordsOf(
  query: Promise<readonly RecordWithTtl[]>,
): Promise<{ readonly found: readonly RecordWithTtl[]; readonly fault: string | null }> {
  try {
    return { found: await query, fault: null };
  } catch (error) {
    return { found: [], fault: errorCode(error) ?? 'unknown' };
  }
}

function faultKind(code: string | null): 'none' | 'refused' | 'silent' {
  switch (code) {
    case null:
    case 'ENOTFOUND':
    case 'ENODATA':
    case 'EBADNAME':
      return 'none';
    case 'ETIMEOUT':
    case 'ECONNREFUSED':
    case 'ECANCELLED':
      return 'silent';
    default:
      return 'refused';
  }
}

function getAddresses(name: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    lookup(name, { all: true }, (error, found) => resolve(error === null ? found.map(({ address }) => address) : []));
  });
}
