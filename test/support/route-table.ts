import { EXAMPLES } from '#troupe/gateway/openapi/examples.js';
import type { ErrorCode } from '#troupe/protocol/errors.js';
import type { HttpCall } from './http-call.js';
import { ROUTES } from './routes.js';

/** A call, and what the contract says that it is answered. */
export interface RouteCase {
  /** A true sentence. */
  readonly name: string;
  readonly call: HttpCall;
  readonly status: number;
  readonly code?: ErrorCode;
  /** A path that `details.issues` must list. */
  readonly issue?: string;
  readonly allow?: string;
}

/** What the table needs of a service; the live session stays as it is. */
export interface RouteTableBase {
  /** A live session that runs. */
  readonly liveId: string;
}

const UNKNOWN_ID = 'zzzzzzzzzzzz';
const MALFORMED_IDS = ['x', 'ZZZZZZZZZZZZ', 'zzzzzzzzzzzzz', '..%2f..%2fetc', '%00', '%', '%ff', "';--"];
const TRAVERSALS = [
  '..',
  '.',
  '%2e%2e',
  '..%2f..%2fetc%2fpasswd',
  '..%5c..%5cwin.ini',
  'a%2fb',
  'a%00b',
  '%E0%A4%A',
  '%0d%0aX:1',
];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
const MIB = 1024 * 1024;

/** For each route with a JSON body: a value of the wrong type, and the path that the answer must name. */
const WRONG_TYPES: { readonly [route: string]: readonly (readonly [body: unknown, issue: string])[] } = {
  'POST /api/sessions': [
    [{ viewport: 'wide' }, 'viewport'],
    [{ viewport: { width: 1 } }, 'viewport.width'],
    [{ idleTimeout: -1 }, 'idleTimeout'],
    [{ headers: { 'x-a': 'b\r\nx-c: d' } }, 'headers.x-a'],
    [{ headers: { 'x-a: b\r\nx-c': 'd' } }, 'headers.x-a: b\r\nx-c'],
    [{ userAgent: 'Tester\r\nx-c: d' }, 'userAgent'],
    [{ mode: 'auto' }, 'prompt'],
    [{ mode: 'auto', prompt: 5 }, 'prompt'],
    [{ mode: 'robot' }, 'mode'],
    [{ mode: null }, 'mode'],
    [{ prompt: 'not of a live session' }, 'prompt'],
    [{ viewport: { width: 800, height: 600, depth: 3 } }, 'viewport.depth'],
  ],
  'POST /api/sessions/{id}/handoff': [
    [{}, 'answer'],
    [{ answer: 'maybe' }, 'answer'],
    [{ answer: 'done', note: 5 }, 'note'],
  ],
  'POST /api/sessions/{id}/webhooks': [[{ moment: 'soon' }, 'moment']],
  'POST /api/batches/{id}/webhooks': [[{ moment: 'soon' }, 'moment']],
  'POST /api/tokens': [
    [{ name: 'a' }, 'role'],
    [{ name: 'a', role: 'king' }, 'role'],
    [{ name: '', role: 'admin' }, 'name'],
    [{ name: 'a\r\nb', role: 'admin' }, 'name'],
    [{ name: 'a', role: 'run', limits: { running: 0 } }, 'limits.running'],
  ],
  'POST /api/login': [
    [{ token: 5 }, 'token'],
    [{ token: '' }, 'token'],
    [{}, 'token'],
  ],
  'POST /api/sessions/run': [
    [{ prompt: 'x', waitTimeout: 'long' }, 'waitTimeout'],
    [{ prompt: 'x', flowFiles: 'a.js' }, 'flowFiles'],
    [{ prompt: 'x', flowFiles: [5] }, 'flowFiles.0'],
    [{ prompt: 'x', mode: 'live' }, 'mode'],
  ],
  'POST /api/jobs': [
    [{ prompt: ['x'] }, 'prompt'],
    [{ prompt: 'x', maxIterations: 1.5 }, 'maxIterations'],
    [{ prompt: 'x', model: 'no-slash' }, 'model'],
  ],
  'POST /api/sessions/{id}/control': [
    [{ take: 'yes' }, 'take'],
    [{ take: true, takeOver: 1 }, 'takeOver'],
    [{}, 'take'],
  ],
  'POST /api/batches': [
    [{ jobs: [] }, 'jobs'],
    [{ jobs: [{ prompt: 'x' }, { prompt: 5 }] }, 'jobs.1.prompt'],
    [{ jobs: [{ prompt: 'x', nope: 1 }] }, 'jobs.0.nope'],
    [{ jobs: [{ prompt: 'x' }], parallel: 0 }, 'parallel'],
    [{ jobs: [{ prompt: 'x' }], flows: { '../x.js': '' } }, 'flows.../x.js'],
    [{ jobs: [{ prompt: 'x' }], flows: { '/etc/x.js': '' } }, 'flows./etc/x.js'],
    [{ jobs: [{ prompt: 'x' }], flows: { 'a/.b/x.js': '' } }, 'flows.a/.b/x.js'],
    [{ jobs: [{ prompt: 'x' }], flows: { 'x.sh': '' } }, 'flows.x.sh'],
  ],
  'POST /api/batches/join': [
    [{ hash: 'h', jobs: [{ name: 'a' }] }, 'build'],
    [{ build: 'b', hash: 'h', jobs: [] }, 'jobs'],
    [{ build: 'b', hash: 'h', jobs: [{ name: 'a' }, { name: 'a' }] }, 'jobs'],
    [{ build: 'b', hash: 'h', jobs: [{ name: 'a', retries: 11 }] }, 'jobs.0.retries'],
  ],
  'POST /api/batches/{id}/claim': [
    [{ lease: 0 }, 'lease'],
    [{ lease: 301 }, 'lease'],
    [{ token: 'short' }, 'token'],
    [{ machine: '' }, 'machine'],
  ],
  'POST /api/batches/{id}/claims/{token}/renew': [[{ lease: 'long' }, 'lease']],
  'POST /api/batches/{id}/claims/{token}/result': [
    [{}, 'state'],
    [{ state: 'queued' }, 'state'],
  ],
  'POST /api/batches/suite': [
    [{}, 'run'],
    [{ run: 'short' }, 'run'],
    [{ run: 'a-run-of-a-suite', jobs: [] }, 'jobs'],
  ],
  'POST /api/batches/{id}/tests': [
    [{}, 'tests'],
    [{ tests: [{ id: '' }] }, 'tests.0.id'],
    [{ tests: [], end: 'yes' }, 'end'],
  ],
  'POST /api/sessions/{id}/baselines': [
    [{ baseline: 5 }, 'baseline'],
    [{ baseline: '' }, 'baseline'],
    [{}, 'baseline'],
  ],
  'POST /api/batches/{id}/rerun': [
    [{ jobs: 'some' }, 'jobs'],
    [{ jobs: ['a'] }, 'jobs'],
    [{ nope: 1 }, 'nope'],
  ],
  'POST /api/sessions/{id}/links': [
    [{ expiresIn: 'long' }, 'expiresIn'],
    [{ expiresIn: 0 }, 'expiresIn'],
    [{ expiresIn: 2_592_001 }, 'expiresIn'],
  ],
  'POST /sessions/{id}/proxy': [
    [{ js: 5 }, 'js'],
    [{ js: null }, 'js'],
    [{ js: '1', control: 'short' }, 'control'],
    [{}, 'js'],
  ],
};

/**
 * Every route, asked wrongly in every way that a user or an attacker would. Routes that are added are covered by what
 * holds for all of them; a route with a JSON body that {@link WRONG_TYPES} does not know is an error.
 */
export function routeTable(base: RouteTableBase): RouteCase[] {
  const cases: RouteCase[] = [];
  const paths = new Set(ROUTES.map((route) => route.path));
  for (const path of paths) cases.push(...methodCases(path, base));
  for (const route of ROUTES) {
    const label = `${route.method} ${route.path}`;
    const at = filled(route.path, base.liveId);
    if (route.path.includes('{id}')) {
      for (const id of [UNKNOWN_ID, ...MALFORMED_IDS]) {
        cases.push({
          name: `${label} answers NOT_FOUND for the id ${id}`,
          call: { method: route.method, path: filled(route.path, id), ...validBody(label) },
          status: 404,
          code: 'NOT_FOUND',
        });
      }
    }
    if (route.path.includes('{name}')) {
      for (const name of TRAVERSALS) {
        cases.push({
          name: `${label} refuses the file name ${name}`,
          call: { method: route.method, path: filled(route.path, base.liveId, name), body: 'x' },
          status: 400,
          code: 'INVALID_REQUEST',
        });
      }
      cases.push({
        name: `${label} is not reached with raw dots and slashes`,
        call: { method: route.method, path: `${filled(route.path, base.liveId, '..')}/../../x`, body: 'x' },
        status: 404,
        code: 'NOT_FOUND',
      });
    }
    if (route.body === 'json') cases.push(...bodyCases(label, route.method, at, route.maxBodyBytes));
    if (route.querySchema) {
      cases.push({
        name: `${label} refuses an unknown query parameter by name`,
        call: { method: route.method, path: `${at}?nope=1` },
        status: 400,
        code: 'INVALID_REQUEST',
        issue: 'nope',
      });
    }
  }
  return [...cases, ...lonelyCases(base)];
}

function methodCases(path: string, base: RouteTableBase): RouteCase[] {
  const known: string[] = ROUTES.filter((route) => route.path === path).map((route) => route.method);
  const all = [...known, ...(known.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
  const allow = all.sort().join(', ');
  const at = filled(path, base.liveId);
  const options: RouteCase = {
    name: `OPTIONS ${path} names the methods`,
    call: { method: 'OPTIONS', path: at },
    status: 204,
    allow,
  };
  const refused = METHODS.filter((method) => !known.includes(method)).map(
    (method): RouteCase => ({
      name: `${method} ${path} is answered 405 with Allow`,
      call: { method, path: at, ...(method === 'GET' ? {} : { body: '{}' }) },
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      allow,
    }),
  );
  return [options, ...refused];
}

function bodyCases(label: string, method: string, path: string, maxBytes: number): RouteCase[] {
  const wrong = WRONG_TYPES[label];
  if (!wrong) throw new Error(`The table has no wrong types for ${label}`);
  const huge = JSON.stringify({ js: 'x'.repeat(maxBytes + MIB), prompt: 'y' });
  const invalid = (name: string, body: string | Buffer, code: ErrorCode, issue?: string): RouteCase => ({
    name: `${label} ${name}`,
    call: { method, path, body },
    status: 400,
    code,
    ...(issue === undefined ? {} : { issue }),
  });
  const tooLarge = { status: 413, code: 'BODY_TOO_LARGE' } as const;
  return [
    invalid('refuses what is not JSON', '{"js": ', 'INVALID_JSON'),
    invalid('refuses a form', 'js=1&prompt=2', 'INVALID_JSON'),
    invalid('refuses bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'INVALID_JSON'),
    invalid('refuses an array', '[]', 'INVALID_REQUEST', ''),
    invalid('refuses null', 'null', 'INVALID_REQUEST', ''),
    invalid('refuses a string', '"x"', 'INVALID_REQUEST', ''),
    invalid('refuses an unknown field by name', '{"nope": 1}', 'INVALID_REQUEST', 'nope'),
    invalid('refuses __proto__ by name', '{"__proto__": {"js": "1"}}', 'INVALID_REQUEST', '__proto__'),
    invalid('refuses what is nested without end', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'INVALID_REQUEST'),
    ...wrong.map(([body, issue]) =>
      invalid(`refuses ${JSON.stringify(body)}`, JSON.stringify(body), 'INVALID_REQUEST', issue),
    ),
    { name: `${label} refuses a MiB too much with a length`, call: { method, path, body: huge }, ...tooLarge },
    {
      name: `${label} refuses a MiB too much in chunks`,
      call: { method, path, body: huge, chunked: true },
      ...tooLarge,
    },
  ];
}

function lonelyCases(base: RouteTableBase): RouteCase[] {
  const nowhere = [
    '/nope',
    '/api',
    '/api/',
    '/api/sessions/',
    '//api/sessions',
    '/API/sessions',
    '/api/sessions/a/b/c',
    '/%2e%2e/etc',
    '/../etc/passwd',
  ];
  const unfit = (name: string, path: string, issue?: string): RouteCase => ({
    name,
    call: { method: 'GET', path },
    status: 400,
    code: 'INVALID_REQUEST',
    ...(issue === undefined ? {} : { issue }),
  });
  return [
    ...nowhere.map(
      (path): RouteCase => ({
        name: `GET ${path} is not there`,
        call: { method: 'GET', path },
        status: 404,
        code: 'NOT_FOUND',
      }),
    ),
    unfit('GET /api/sessions refuses an unknown state', '/api/sessions?state=asleep', 'state'),
    unfit('GET /api/sessions refuses a limit of 0', '/api/sessions?limit=0', 'limit'),
    unfit('GET /api/sessions refuses a limit given twice', '/api/sessions?limit=1&limit=2', 'limit'),
    unfit('GET /api/sessions refuses a malformed before', '/api/sessions?before=..', 'before'),
    unfit('GET /api/jobs refuses a mode', '/api/jobs?mode=live', 'mode'),
    unfit('GET /api/events refuses an after that is no number', '/api/events?after=-1', 'after'),
    {
      name: 'GET /api/events refuses a Last-Event-ID that is no number',
      call: { method: 'GET', path: '/api/events', headers: { 'last-event-id': '1e3' } },
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      name: 'POST /api/jobs answers 400 for a flow that does not exist',
      call: { method: 'POST', path: '/api/jobs', body: '{"prompt":"x","maxIterations":0,"flowFiles":["no-such.js"]}' },
      status: 400,
      code: 'FLOW_NOT_FOUND',
    },
    {
      name: 'POST /api/jobs answers 400 for a flow that is neither .js nor .md',
      call: { method: 'POST', path: '/api/jobs', body: '{"prompt":"x","maxIterations":0,"flowFiles":["no-such.sh"]}' },
      status: 400,
      code: 'INVALID_REQUEST',
    },
    ...['no-such.js', '..%2fx.js', '%2e%2e/x.js', 'a%00.js', '%E0%A4%A', 'a//b.js'].map(
      (path): RouteCase => ({
        name: `GET /api/flows/${path} is not there`,
        call: { method: 'GET', path: `/api/flows/${path}` },
        status: 404,
        code: 'NOT_FOUND',
      }),
    ),
    {
      name: 'A script that throws is answered 422',
      call: { method: 'POST', path: `/sessions/${base.liveId}/proxy`, body: '{"js":"null.x"}' },
      status: 422,
      code: 'SCRIPT_ERROR',
    },
    {
      name: 'A body is JSON whatever its Content-Type',
      call: {
        method: 'POST',
        path: `/sessions/${base.liveId}/proxy`,
        headers: { 'content-type': 'text/plain' },
        body: '{"js":"1+1"}',
      },
      status: 200,
    },
    {
      name: 'A file that is not there is answered 404',
      call: { method: 'GET', path: `/api/sessions/${base.liveId}/files/no-such.txt` },
      status: 404,
      code: 'NOT_FOUND',
    },
  ];
}

function validBody(label: string): { body?: string } {
  if (label.endsWith('/control')) return { body: '{"take":false}' };
  if (label.endsWith('/handoff')) return { body: '{"answer":"done"}' };
  if (label.endsWith('/result')) return { body: JSON.stringify(EXAMPLES[label]?.request) };
  if (label.endsWith('/baselines')) return { body: '{"baseline":"a.baselines/b.png"}' };
  if (label === 'POST /api/batches/{id}/tests') return { body: '{"tests":[]}' };
  if (label.endsWith('/proxy')) return { body: '{"js":"1"}' };
  return label.startsWith('PUT') ? { body: 'x' } : {};
}

function filled(path: string, id: string, name = 'a.txt'): string {
  return path
    .replace('{link}', 'no-link')
    .replace('{id}', id)
    .replace('{name}', name)
    .replace('{path...}', 'no/such.js');
}
