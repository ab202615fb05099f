import type { Route } from 'playwright';
import { urlPattern } from '../../agent-js/network/url-pattern.js';
import { pause } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';

interface Rule {
  readonly owner: object;
  readonly url: string;
  readonly matcher: (url: URL) => boolean;
  readonly handler: (route: Route) => Promise<void>;
}

interface Router {
  route(
    matcher: (url: URL) => boolean,
    handler: (route: Route) => Promise<void>,
    options?: { times?: number },
  ): Promise<unknown>;
  unroute(matcher: (url: URL) => boolean, handler: (route: Route) => Promise<void>): Promise<void>;
}

/** Rules of a session at most. */
const MAX_RULES = 200;
const MAX_DELAY_MS = 60_000;

/** The rules of `route`, which are data: what a request is answered with. */
export class Routes {
  #rules: Rule[] = [];

  /** Whether a rule answers requests of this address. */
  matches(url: string): boolean {
    const parsed = new URL(url);
    return this.#rules.some(({ matcher }) => matcher(parsed));
  }

  async change(owner: object, method: 'route' | 'unroute' | 'unrouteAll', args: readonly unknown[]): Promise<void> {
    if (!isRouter(owner)) throw new TroupeError('INTERNAL', 'This object has no routes');
    const url = String(args[0]);
    if (method !== 'route') {
      const gone = this.#rules.filter((rule) => rule.owner === owner && (method === 'unrouteAll' || rule.url === url));
      this.#rules = this.#rules.filter((rule) => !gone.includes(rule));
      for (const { matcher, handler } of gone) await owner.unroute(matcher, handler);
      return;
    }
    if (this.#rules.length >= MAX_RULES) {
      throw new TroupeError('SCRIPT_ERROR', `A session has at most ${MAX_RULES} routes; unroute some`);
    }
    const rule = { owner, url, matcher: matcherOf(args[0]), handler: handlerOf(Object(args[1])) };
    await owner.route(rule.matcher, rule.handler, Object(args[2]));
    this.#rules.push(rule);
  }
}

function matcherOf(given: unknown): (url: URL) => boolean {
  const pattern = urlPattern(given);
  if (pattern instanceof RegExp) {
    return (url) => {
      pattern.lastIndex = 0;
      try {
        return pattern.test(url.href);
      } catch {
        // An expression that does not end matches nothing.
        return false;
      }
    };
  }
  const text = String(pattern);
  return (url) => url.href === text || url.href === `${text}/`;
}

function handlerOf(rule: { [member: string]: unknown }): (route: Route) => Promise<void> {
  const { abort, status, body, json, headers, contentType } = rule;
  const delayMs = delayOf(rule.delay);
  if (abort !== undefined && abort !== false) {
    return (route) => later(delayMs, () => route.abort(typeof abort === 'string' ? abort : 'failed'));
  }
  const fulfilment = {
    ...(typeof status === 'number' ? { status } : {}),
    ...(typeof body === 'string' ? { body } : {}),
    ...(json === undefined ? {} : { json }),
    ...(isHeaders(headers) ? { headers } : {}),
    ...(typeof contentType === 'string' ? { contentType } : {}),
  };
  return (route) => later(delayMs, () => route.fulfill(fulfilment));
}

function delayOf(delay: unknown): number {
  if (delay === undefined) return 0;
  if (typeof delay === 'number' && delay >= 0 && delay <= MAX_DELAY_MS) return delay;
  throw new TroupeError('SCRIPT_ERROR', `delay is a number of milliseconds from 0 to ${MAX_DELAY_MS}`);
}

/** By the time of a late answer its page may be gone. */
async function later(ms: number, answer: () => Promise<void>): Promise<void> {
  if (ms === 0) return answer();
  await pause(ms);
  await answer().catch(() => undefined);
}

function isHeaders(value: unknown): value is { [name: string]: string } {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');
}

function isRouter(object: object): object is Router {
  return typeof Reflect.get(object, 'route') === 'function' && typeof Reflect.get(object, 'unroute') === 'function';
}
