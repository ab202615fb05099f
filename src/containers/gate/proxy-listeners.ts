import { sentenceOf } from '../../base/system-fault.js';
import { EgressRules, type EgressSetting, type SessionEgress } from '../../net-policy/egress.js';
import { NameLookUps } from './name-lookups.js';
import { type ListenerKind, type ListenerPlace, ProxyListener } from './proxy-listener.js';

const NOTHING_SET: SessionEgress = { forward: [], egress: {} };

/**
 * Every door of a service and the rules behind each. When rules change, open connections are not cut, except those to what
 * is always blocked.
 */
export class ProxyListeners {
  readonly #setting: EgressSetting;
  readonly #names: NameLookUps;
  /** Of doors that listen at ports: no page is to reach another's way out. */
  readonly #ports = new Set<number>();
  readonly #rules = new Map<string, { rules: EgressRules; readonly open: ProxyListener[] }>();

  constructor(setting: EgressSetting, names = new NameLookUps()) {
    this.#setting = setting;
    this.#names = names;
  }

  /** What one browser's session asks for; it replaces what it asked for before. */
  permit(leaseId: string, asked: SessionEgress): void {
    this.#entry(leaseId).rules = this.#rulesFor(asked);
  }

  /** Answers the port that was opened, where it was one. @throws a sentence that says why it cannot be opened */
  async open(leaseId: string, place: ListenerPlace, kind: ListenerKind): Promise<number | undefined> {
    const entry = this.#entry(leaseId);
    const routes = { rules: () => entry.rules, lookUp: this.#names.of(leaseId) };
    const listener = await ProxyListener.open(place, kind, routes).catch((cause: unknown) => {
      // Of an error nothing but its message leaves this thread.
      throw new Error(sentenceOf(cause), { cause });
    });
    entry.open.push(listener);
    if (listener.port !== undefined) {
      this.#ports.add(listener.port);
      this.recheck();
    }
    return listener.port;
  }

  /** Cuts the connections to what has been closed since they were opened. */
  recheck(): void {
    for (const { open } of this.#rules.values()) for (const listener of open) listener.recheck();
  }

  /** Idempotent. */
  async close(leaseId: string): Promise<void> {
    const { open = [] } = this.#rules.get(leaseId) ?? {};
    this.#rules.delete(leaseId);
    for (const { port } of open) if (port !== undefined) this.#ports.delete(port);
    await Promise.all(open.map((listener) => listener.close()));
  }

  #rulesFor(asked: SessionEgress): EgressRules {
    return new EgressRules(this.#setting, asked, this.#ports);
  }

  #entry(leaseId: string) {
    const known = this.#rules.get(leaseId);
    if (known !== undefined) return known;
    const entry = { rules: this.#rulesFor(NOTHING_SET), open: [] };
    this.#rules.set(leaseId, entry);
    return entry;
  }
}
