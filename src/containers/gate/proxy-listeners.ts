import { assertNever } from '../../base/assert-never.js';
import { EgressRules, type EgressSetting, type EgressWish } from '../../net-policy/egress.js';
import type { GateMessage } from './gate-messages.js';
import { NameLookUps } from './name-lookups.js';
import { ProxyListener } from './proxy-listener.js';

const NO_WISH: EgressWish = { forward: [], egress: {} };

/** Every door of a service and the rules behind each. Connections that stand are not cut when rules change. */
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

  /** Answers the port that was opened, where it was one. */
  async handle(message: GateMessage): Promise<number | undefined> {
    switch (message.type) {
      case 'Permit':
        this.#entry(message.leaseId).rules = this.#rulesFor(message.wish);
        return undefined;
      case 'Open': {
        const entry = this.#entry(message.leaseId);
        const door = await ProxyListener.open(message.place, message.kind, {
          rules: () => entry.rules,
          lookUp: this.#names.of(message.leaseId),
        });
        entry.open.push(door);
        if (door.port !== undefined) this.#ports.add(door.port);
        return door.port;
      }
      case 'Close': {
        const entry = this.#rules.get(message.leaseId);
        this.#rules.delete(message.leaseId);
        for (const { port } of entry?.open ?? []) if (port !== undefined) this.#ports.delete(port);
        await Promise.all((entry?.open ?? []).map((door) => door.close()));
        return undefined;
      }
      default:
        return assertNever(message);
    }
  }

  #rulesFor(wish: EgressWish): EgressRules {
    return new EgressRules(this.#setting, wish, this.#ports);
  }

  #entry(leaseId: string) {
    const known = this.#rules.get(leaseId);
    if (known !== undefined) return known;
    const entry = { rules: this.#rulesFor(NO_WISH), open: [] };
    this.#rules.set(leaseId, entry);
    return entry;
  }
}
