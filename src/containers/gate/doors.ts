import { assertNever } from '../../protocol/assert-never.js';
import { Door } from './door.js';
import type { GateMessage } from './gate-messages.js';
import { GateRules, type GateSetting, type GateWish } from './gate-rules.js';

const NO_WISH: GateWish = { forward: [], egress: {} };

/** Every door of a service and the rules behind each. Connections that stand are not cut when rules change. */
export class Doors {
  readonly #setting: GateSetting;
  readonly #rules = new Map<string, { rules: GateRules; readonly open: Door[] }>();

  constructor(setting: GateSetting) {
    this.#setting = setting;
  }

  async handle(message: GateMessage): Promise<void> {
    switch (message.type) {
      case 'Permit':
        this.#entry(message.leaseId).rules = new GateRules(this.#setting, message.wish);
        return;
      case 'Open': {
        const entry = this.#entry(message.leaseId);
        entry.open.push(await Door.open(message.place, message.kind, () => entry.rules));
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
    const entry = { rules: new GateRules(this.#setting, NO_WISH), open: [] };
    this.#rules.set(leaseId, entry);
    return entry;
  }
}
