import { EgressRules, type EgressSetting, type EgressWish } from '../../net-policy/egress.js';
import { assertNever } from '../../protocol/assert-never.js';
import { Door } from './door.js';
import type { GateMessage } from './gate-messages.js';

const NO_WISH: EgressWish = { forward: [], egress: {} };

/** Every door of a service and the rules behind each. Connections that stand are not cut when rules change. */
export class Doors {
  readonly #setting: EgressSetting;
  readonly #rules = new Map<string, { rules: EgressRules; readonly open: Door[] }>();

  constructor(setting: EgressSetting) {
    this.#setting = setting;
  }

  async handle(message: GateMessage): Promise<void> {
    switch (message.type) {
      case 'Permit':
        this.#entry(message.leaseId).rules = new EgressRules(this.#setting, message.wish);
        return;
      case 'Open': {
        const entry = this.#entry(message.leaseId);
        entry.open.push(await Door.open(message.path, message.kind, () => entry.rules));
        return;
      }
      case 'Close': {
        const entry = this.#rules.get(message.leaseId);
        this.#rules.delete(message.leaseId);
        await Promise.all((entry?.open ?? []).map((door) => door.close()));
        return;
      }
      default:
        return assertNever(message);
    }
  }

  #entry(leaseId: string) {
    const known = this.#rules.get(leaseId);
    if (known !== undefined) return known;
    const entry = { rules: new EgressRules(this.#setting, NO_WISH), open: [] };
    this.#rules.set(leaseId, entry);
    return entry;
  }
}
