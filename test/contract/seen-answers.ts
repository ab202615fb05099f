import { request } from 'node:http';
import type { Test } from 'tap';
import { routeErrors } from '#troupe/gateway/openapi/route-errors.js';
import type { Route } from '#troupe/gateway/route.js';
import type { HttpCall } from '../support/http-call.js';
import { ROUTES } from '../support/routes.js';

/** The head of an answer, and its JSON. */
export interface Seen {
  readonly status: number;
  readonly json: unknown;
}

export function routeOf(method: string, path: string): Route {
  const route = ROUTES.find((one) => one.method === method && one.path === path);
  if (route === undefined) throw new Error(`There is no ${method} ${path}`);
  return route;
}

/** Sends a call; a stream stays open until `close`. */
export function ask(url: string, { method, path, headers, body }: HttpCall): Promise<Seen & { close(): void }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, method, path, headers, agent: false, signal: AbortSignal.timeout(60_000) });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const close = () => void response.destroy();
      if (!response.headers['content-type']?.includes('json')) return resolve({ status, json: undefined, close });
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status, json: JSON.parse(text), close }));
    });
    sent.end(body);
  });
}

/** The answers of routes in a test file. Each must be documented: a success matches its schema exactly. */
export class SeenAnswers {
  /** The statuses by route. */
  readonly #seen = new Map<Route, Set<number>>();

  has(route: Route, status: number): boolean {
    return this.#seen.get(route)?.has(status) ?? false;
  }

  /** Makes a call, and records its answer. */
  async see(t: Test, url: string, route: Route, call: Partial<HttpCall> = {}): Promise<void> {
    const path =
      call.path ??
      route.path.replace('{id}', 'zzzzzzzzzzzz').replace('{name}', 'a.txt').replace('{path...}', 'no/such.js');
    const answer = await ask(url, { method: route.method, ...call, path });
    this.note(t, route, answer);
    answer.close();
  }

  note(t: Test, route: Route, { status, json }: Seen): void {
    const label = `${route.method} ${route.path} ${status}`;
    this.#seen.set(route, (this.#seen.get(route) ?? new Set()).add(status));
    const code: unknown = Reflect.get(Object(json), 'code');
    const documented = routeErrors(route).get(status);
    if (status === route.status) {
      if (typeof route.answer !== 'string') t.same(route.answer.parse(json), json, `${label} has its documented form`);
    } else if (typeof code === 'string') {
      t.ok(
        documented?.some((known) => known === code),
        `${label} ${code} is documented`,
      );
    } else {
      t.ok(route.also[status], `${label} is documented`);
    }
  }
}
