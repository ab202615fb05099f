import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import type { WebDriver } from '../../webdriver/web-driver.js';
import type { Answer, Method, Route, RouteRequest } from '../route.js';
import { defineRoute } from '../route.js';

/** `se/file` has a file in base64. */
const BODY_BYTES = 140 * 1024 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';
const Body = z.record(z.string(), z.unknown());

/** The W3C routes below one prefix: both that of Selenium Grid and none are in use. */
function routesBelow(prefix: string, webDriver: WebDriver): readonly Route[] {
  const command = (method: Method) =>
    defineRoute({
      method,
      path: `${prefix}/session/{id}/{command...}`,
      summary: 'A command of WebDriver, passed to the chromedriver of the session.',
      role: 'run',
      // The transcript of the session has the commands.
      changes: false,
      ...(method === 'POST' ? { bytes: BODY_BYTES } : {}),
      answer: 'application/json',
      errors: ['SESSION_ENDED', 'WORKER_LOST'],
      handle: ({ request }, sessions) => run(webDriver, method, request, sessions),
    });
  return [
    defineRoute({
      method: 'GET',
      path: `${prefix}/status`,
      summary: 'Whether WebDriver sessions can be created.',
      answer: 'application/json',
      async handle() {
        const fault = await webDriver.installed().then(
          () => null,
          (error: Error) => error.message,
        );
        const message = fault ?? 'Sessions can be created; they wait for a free browser';
        return json(200, { value: { ready: fault === null, message } });
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${prefix}/session`,
      summary: 'Creates a session with a chromedriver attached to its browser (WebDriver: New Session).',
      bytes: 1024 * 1024,
      answer: 'application/json',
      errors: ['CAPACITY', 'UNAVAILABLE', 'WORKER_LOST'],
      async handle({ request }, sessions) {
        const { caller, signal } = request;
        return json(200, await webDriver.create(bodyOf(request), sessions, { caller, signal }));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${prefix}/session/{id}`,
      summary: 'Ends a WebDriver session.',
      answer: 'application/json',
      async handle({ request }, sessions) {
        await webDriver.remove(request.params.id ?? '', sessions);
        return json(200, { value: null });
      },
    }),
    command('GET'),
    command('POST'),
    command('DELETE'),
  ];
}

export const webDriverRoutes = (webDriver: WebDriver): readonly Route[] => [
  ...routesBelow('/wd/hub', webDriver),
  ...routesBelow('', webDriver),
];

/** Whether errors at this path have the form of WebDriver, and of what kind the command is. */
export function webDriverCommand(method: string, path: string): 'new session' | 'command' | 'unknown' | null {
  const [, below] = /^(?:\/wd\/hub)?\/(session|status)(?:\/|$)/.exec(path) ?? [];
  if (below === undefined) return path === '/wd/hub' || path.startsWith('/wd/hub/') ? 'unknown' : null;
  if (below === 'status') return 'unknown';
  return method === 'POST' && /\/session\/?$/.test(path) ? 'new session' : 'command';
}

async function run(
  webDriver: WebDriver,
  method: Method,
  request: RouteRequest,
  sessions: Parameters<Route['handle']>[1],
): Promise<Answer> {
  const id = request.params.id ?? '';
  const path = request.params.command ?? null;
  if (path === null || path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new TroupeError('INVALID_REQUEST', 'The path of the command is not valid');
  }
  const body = method === 'POST' ? bodyOf(request) : {};
  if (method === 'POST' && /^(?:se\/)?file$/.test(path)) {
    return json(200, { value: await webDriver.upload(id, body, sessions) });
  }
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const raw = method === 'POST' ? JSON.stringify(body) : null;
  const { status, text } = await webDriver.command(id, { method, path: encoded, body }, raw);
  return { kind: 'text', status, contentType: JSON_TYPE, text };
}

/** @throws INVALID_JSON, INVALID_REQUEST */
function bodyOf({ bytes }: RouteRequest): { readonly [name: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new TroupeError('INVALID_JSON', 'The body is not JSON; send an object, which may be empty');
  }
  const parsed = Body.safeParse(value);
  if (!parsed.success) throw new TroupeError('INVALID_REQUEST', 'The body must be a JSON object');
  return parsed.data;
}

function json(status: number, body: unknown): Answer {
  return { kind: 'text', status, contentType: JSON_TYPE, text: JSON.stringify(body) };
}
