import { normalizedHost } from '../net-policy/host-pattern.js';

/** How many jobs may work on a host at once, by host or `*.domain`, as `hostLimits` of the configuration has them. */
export interface HostLimitsSetting {
  readonly [pattern: string]: number;
}

/**
 * Finds the limits that a job's hosts fall under. A host falls under one limit: its own, or else that of the longest
 * `*.domain` that it is in. A limit of a `*.domain` is for all its hosts together.
 */
export class HostLimits {
  readonly #most = new Map<string, number>();

  /** @param setting its patterns are valid by `isHostPattern`, and none is a range */
  constructor(setting: HostLimitsSetting) {
    for (const [pattern, most] of Object.entries(setting)) this.#most.set(normalizedHost(pattern) ?? pattern, most);
  }

  get isEmpty(): boolean {
    return this.#most.size === 0;
  }

  /** @param hosts as `hostsOf` returns them */
  limitsOf(hosts: string): readonly string[] {
    if (hosts === '' || this.isEmpty) return [];
    return [...new Set(hosts.split(' ').flatMap((host) => this.#limitOf(host) ?? []))].sort();
  }

  /** @param limit one that {@link limitsOf} returned */
  most(limit: string): number {
    return this.#most.get(limit) ?? Number.POSITIVE_INFINITY;
  }

  #limitOf(host: string): string | undefined {
    if (this.#most.has(host)) return host;
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      const wide = `*${host.slice(dot)}`;
      if (this.#most.has(wide)) return wide;
    }
    return undefined;
  }
}

/**
 * The places of limited hosts, and who has them: a job has one of each limit that it falls under, or none.
 *
 * Those who wait are asked in the order in which they are to be served, one {@link HostRound} at a time. A job that must wait
 * for one of its limits keeps a free place of its others, so that jobs with fewer hosts do not pass it for ever.
 */
export class HostPlaces {
  readonly #limits: HostLimits;
  readonly #taken = new Map<string, number>();

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Takes places, even if none is free: of a job that runs. @param limits as `HostLimits.limitsOf` returns them */
  take(limits: readonly string[], jobs = 1): void {
    for (const limit of limits) this.#taken.set(limit, this.taken(limit) + jobs);
  }

  release(limits: readonly string[]): void {
    for (const limit of limits) {
      const left = this.taken(limit) - 1;
      if (left > 0) this.#taken.set(limit, left);
      else this.#taken.delete(limit);
    }
  }

  taken(limit: string): number {
    return this.#taken.get(limit) ?? 0;
  }

  /** Begins to ask. */
  round(): HostRound {
    const kept = new Map<string, number>();
    const isFree = (limit: string) => this.taken(limit) + (kept.get(limit) ?? 0) < this.#limits.most(limit);
    return {
      mayTake: (limits) => {
        if (limits.every(isFree)) return true;
        for (const limit of limits) if (isFree(limit)) kept.set(limit, (kept.get(limit) ?? 0) + 1);
        return false;
      },
    };
  }
}

/** Asks for one after the other whether it may run. */
export interface HostRound {
  /** Whether all these limits have a free place; if not, those that have one keep it for this one. */
  mayTake(limits: readonly string[]): boolean;
}
