import { randomBytes } from 'node:crypto';

const USERS = new Map([
  ['ada', { password: 'lovelace', name: 'Ada' }],
  ['grace', { password: 'hopper', name: 'Grace' }],
]);

const MAX_SESSIONS = 5_000;
const MAX_ORDERS = 20_000;

/** What the shop remembers, in memory. Full: the session longest unused, or the oldest order, goes. */
export class Store {
  #sessions = new Map();
  #orders = new Map();
  #nextNumber = 1001;

  /** The user's name for the page, or null where user and password do not belong together. */
  login(user, password) {
    const known = USERS.get(user);
    return known?.password === password ? { user, name: known.name } : null;
  }

  session(token) {
    const session = this.#sessions.get(token);
    if (session === undefined) return null;
    this.#sessions.delete(token);
    this.#sessions.set(token, session);
    return session;
  }

  /** A session under a token of its own; `from` hands on the cart of the one before a login. */
  openSession(from) {
    const session = {
      token: randomBytes(24).toString('base64url'),
      account: null,
      cart: from?.cart ?? new Map(),
      draft: null,
    };
    if (from) this.#sessions.delete(from.token);
    this.#sessions.set(session.token, session);
    dropOldest(this.#sessions, MAX_SESSIONS);
    return session;
  }

  endSession(session) {
    this.#sessions.delete(session.token);
  }

  /** Every call makes one order more: the order book shows what was really sent, doubled or not. */
  addOrder(fields) {
    const order = { number: `TR-${this.#nextNumber}`, placedAt: new Date().toISOString(), ...fields };
    this.#nextNumber += 1;
    this.#orders.set(order.number, order);
    dropOldest(this.#orders, MAX_ORDERS);
    return order;
  }

  order(number) {
    return this.#orders.get(number) ?? null;
  }

  /** Oldest first. */
  orders() {
    return [...this.#orders.values()];
  }

  reset() {
    this.#sessions.clear();
    this.#orders.clear();
    this.#nextNumber = 1001;
  }
}

function dropOldest(map, limit) {
  if (map.size <= limit) return;
  const [oldest] = map.keys();
  map.delete(oldest);
}
